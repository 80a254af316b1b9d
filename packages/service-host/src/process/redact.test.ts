import fc from "fast-check";
import { expect, test } from "vitest";
import { createLogger } from "./logger.ts";

const SECRET = "hunter2";

function logged(write: (log: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  write(createLogger({ service: "test", level: "info", destination: { write: (line) => void lines.push(line) } }));
  expect(lines.length).toBe(1);
  JSON.parse(lines[0] ?? "");
  return lines[0] ?? "";
}

const names = [
  "password",
  "Authorization",
  "set-cookie",
  "apiKey",
  "api_key",
  "X-API-Key",
  "internalToken",
  "databaseUrl",
  "SERVICE_KEY",
  "toolgate-principal",
  "grant",
];

test("a secret member is hidden at any depth and in any case", () => {
  const path = fc.array(fc.constantFrom("a", "headers", "0", "req"), { maxLength: 9 });
  fc.assert(
    fc.property(path, fc.constantFrom(...names), (parents, name) => {
      const entry = parents.reduceRight<object>((inner, parent) => ({ [parent]: inner }), { [name]: SECRET });
      expect(logged((log) => log.info(entry, "text"))).not.toContain(SECRET);
      expect(logged((log) => log.info({ list: [entry] }))).not.toContain(SECRET);
      expect(logged((log) => log.child(entry as Record<string, unknown>).info("text"))).not.toContain(SECRET);
    }),
  );
});

test("an error shows its type, message, code and cause, and no other member", () => {
  const cause = Object.assign(new Error("duplicate key"), {
    code: "23505",
    constraint: "users_email_key",
    detail: `Key (email)=(${SECRET}) already exists.`,
    where: SECRET,
  });
  const error = Object.assign(new TypeError("failed", { cause }), {
    headers: { authorization: SECRET },
    input: SECRET,
    command: { name: "auth", args: [SECRET] },
    config: { url: `redis://:${SECRET}@host` },
  });
  for (const line of [
    logged((log) => log.error({ err: error }, "text")),
    logged((log) => log.error(error)),
    logged((log) => log.error({ nested: { failures: [error] } })),
    logged((log) => log.error({ err: new AggregateError([error], "several") })),
  ]) {
    expect(line).not.toContain(SECRET);
    for (const shown of ["TypeError", "failed", "23505", "users_email_key", "redact.test.ts"])
      expect(line).toContain(shown);
  }
});

test("credentials in addresses are removed from all strings", () => {
  const address = `postgres://toolgate:${SECRET}@db.example:5432/toolgate`;
  for (const line of [
    logged((log) => log.info(`connecting to ${address}`)),
    logged((log) => log.info({ note: address })),
    logged((log) => log.error({ err: new Error(`cannot reach ${address}`) })),
    logged((log) => log.error(new Error("outer", { cause: new Error(address) }))),
  ]) {
    expect(line).not.toContain(SECRET);
    expect(line).toContain("db.example");
  }
});

test("headers, maps, bytes, circular references and large numbers can be logged", () => {
  const circle: Record<string, unknown> = { name: "circle" };
  circle.self = circle;
  const line = logged((log) =>
    log.info({
      circle,
      headers: new Headers({ authorization: SECRET, accept: "text/plain" }),
      map: new Map([["token", SECRET]]),
      bytes: Buffer.from(SECRET),
      large: 2n ** 64n,
      at: new Date(0),
      nothing: null,
    }),
  );
  expect(line).not.toContain(SECRET);
  expect(JSON.parse(line)).toMatchObject({
    level: "info",
    service: "test",
    headers: { accept: "text/plain", authorization: "[removed]" },
    bytes: "[7 bytes]",
    large: "18446744073709551616",
    at: "1970-01-01T00:00:00.000Z",
    nothing: null,
  });
});
