import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { eventually } from "@toolgate/testbed/eventually";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ECHO, type FrontDoor, openFrontDoor } from "./front-door.ts";
import { headerValues, openRaw, type RawRequest, type RawResponse, requestBytes, sendRaw } from "./raw-http.ts";

const RUNS = { numRuns: 60 };
const HEADERS = ["authorization", "content-type", "content-encoding", "x-forwarded-for", "accept", "cookie", "te"];

let door: FrontDoor;
beforeAll(async () => {
  door = await openFrontDoor();
  // Long enough for its caller to disconnect before it ends.
  const busy = "const end = Date.now() + 300; while (Date.now() < end); return { success: true };";
  await door.toolgate.saveTool("busy", { external_api: true, handler: `export default async () => { ${busy} };` });
});
afterAll(() => door[Symbol.asyncDispose]());

test("[ERR-1] [ERR-3] [TOOL-6] whatever is sent, the fault is the sender's, and the next call works", async () => {
  const text = fc.string({ unit: "binary-ascii", maxLength: 20 }).map((all) => all.replaceAll(/[\r\n]/g, ""));
  const piece = fc.oneof(fc.constantFrom("%", "%00", "%2F", "%zz", "%ff", "..", "/", "?", "#", "echo", "{{"), text);
  const start = fc.constantFrom("/", "/api/v1/", "/api/v1/tools/", "/api/v1/hooks/", "/chat/", "http://a/");
  const request: fc.Arbitrary<Partial<RawRequest>> = fc.oneof(
    fc.uint8Array({ maxLength: 400 }).map((body) => ({ body })),
    fc.array(fc.tuple(fc.constantFrom(...HEADERS), text), { maxLength: 5 }).map((headers) => ({ headers, body: "{}" })),
    fc.tuple(start, fc.array(piece)).map(([first, pieces]) => ({ target: first + pieces.join(""), body: "{}" })),
  );
  await fc.assert(
    fc.asyncProperty(request, async (sent) => {
      expect((await door.post(sent)).status).toBeLessThan(500);
    }),
    { numRuns: 3 * RUNS.numRuns },
  );
  await door.expectUndisturbed();
});

test("[TOOL] random JSON as an argument reaches the tool unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ noUnicodeString: false }), async (value) => {
      const json = JSON.stringify({ any: value });
      const response = await door.post({ body: `{"args":${json}}` });
      expect(response.status).toBe(200);
      if (!json.includes("__proto__")) expect(JSON.parse(response.text).args.any).toEqual(JSON.parse(json).any);
    }),
    RUNS,
  );
});

const limitLeft = async (secret: string) => {
  const headers = [["authorization", `Bearer ${secret}`] as const];
  const response = await sendRaw(door.toolgate.baseUrl, { method: "GET", target: ECHO, headers });
  return Number(headerValues(response as RawResponse, "x-ratelimit-remaining")[0]);
};

test.each<[name: string, length: string | undefined, body: string]>([
  ["in mid-body", "100", '{"args":'],
  ["in mid-chunk", undefined, "ff\r\n{"],
])("[LOG-2] clients that hang up %s are in the log, once", async (_, length, body) => {
  const { id, secret } = await door.toolgate.createKey({ name: "k", tools: ["echo"], limit: 9_000 });
  using connection = openRaw(door.toolgate.baseUrl);
  const framing = length ? (["content-length", length] as const) : (["transfer-encoding", "chunked"] as const);
  const headers = [["authorization", `Bearer ${secret}`] as const, framing];
  await earlyInMinute();
  await connection.write(requestBytes({ target: ECHO, headers, body, withoutLength: true }));
  await eventually(async () => (await limitLeft(secret)) < 9_000);
  connection.cut();
  expect(await door.logged(id, 1)).toEqual({ 400: 1 });
  await door.expectUndisturbed();
});

test("[LOG-2] [LOG-10] clients that hang up during the run are in both logs: the run continues", async () => {
  const { id, secret } = await door.toolgate.createKey({ name: "k", tools: ["busy"], limit: 9_000 });
  using connection = openRaw(door.toolgate.baseUrl);
  const headers = [["authorization", `Bearer ${secret}`] as const];
  await earlyInMinute();
  await connection.write(requestBytes({ target: "/api/v1/tools/busy", headers, body: "{}" }));
  await eventually(async () => (await limitLeft(secret)) < 9_000);
  connection.cut();
  expect(await door.logged(id, 1)).toEqual({ 200: 1 });
  await eventually(async () => {
    const sql = "select success from tool_runner.executions where caller_id = $1";
    expect((await door.toolgate.pool.query(sql, [id])).rows).toEqual([{ success: true }]);
  });
});

test("a body that ends too early for its length is refused, and in the log", async () => {
  const { id, secret } = await door.toolgate.createKey({ name: "k", tools: ["echo"] });
  using connection = openRaw(door.toolgate.baseUrl);
  const headers = [["authorization", `Bearer ${secret}`] as const, ["content-length", "100"] as const];
  await connection.write(requestBytes({ target: ECHO, headers, body: "{}" }));
  connection.end();
  expect(await connection.nextResponse()).toMatchObject({ status: 400 });
  await connection.closed;
  expect(await door.logged(id, 1)).toEqual({ 400: 1 });
});
