import { HOOK_HEADERS } from "@toolgate/webhook-signing/hook-headers";
import { sign } from "@toolgate/webhook-signing/sign";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningHooks, runHooks, type TestHook } from "../hooks/running-hooks.ts";
import { openRaw, type RawRequest, requestBytes, sendRaw } from "./raw-http.ts";

const RUNS = { numRuns: 100 };

let hooks: RunningHooks;
let hook: TestHook;
beforeAll(async () => {
  hooks = await runHooks("single");
  hook = await hooks.createHook();
});
afterAll(() => hooks[Symbol.asyncDispose]());

const send = (request: Partial<RawRequest>) => sendRaw(hooks.toolgate.baseUrl, { target: hook.path, ...request });
const signature = (body: string | Uint8Array) => sign(hook.secret, Math.floor(Date.now() / 1000), body);
const deliveries = async () => {
  const { rows } = await hooks.toolgate.pool.query("select count(*)::integer as count from inbound_hook.delivery");
  return rows[0].count as number;
};

test("[IN-25] random bytes with a correct signature get 202, 200 or 400", async () => {
  const type = fc.oneof(fc.constantFrom("application/json", "application/x-www-form-urlencoded", "text/plain"));
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), type, async (body, contentType) => {
      const response = await send({
        body,
        headers: [
          ["x-service-signature", signature(body)],
          ["content-type", contentType],
        ],
      });
      expect([200, 202, 400]).toContain(response?.status);
    }),
    RUNS,
  );
});

test("[IN-19] [IN-11] random JSON objects, names and ids with a correct signature are accepted", async () => {
  const value = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ noUnicodeString: false }));
  await fc.assert(
    fc.asyncProperty(value, fc.string({ unit: "binary" }), async (members, id) => {
      const body = JSON.stringify({ ...members, id });
      const response = await send({ body, headers: [["x-service-signature", signature(body)]] });
      expect([200, 202]).toContain(response?.status);
    }),
    RUNS,
  );
});

test("[IN-27] [IN-31] random headers without the secret get a documented refusal, and nothing is stored", async () => {
  const before = await deliveries();
  const name = fc.constantFrom(...HOOK_HEADERS.filter((header) => header !== "content-type"));
  const value = fc.oneof(
    fc.constantFrom("t=1,v1=00", "t=,v1=", "v1,", "sha256=", "Bearer ", "2", "-1", "2, 2", "=", ",", "gzip"),
    fc.string({ maxLength: 50 }),
    fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes.filter((byte) => byte > 31 && byte !== 127))),
    fc.constant("x".repeat(10_000)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, value), { maxLength: 8 }), async (headers) => {
      const response = await send({ body: "{}", headers });
      expect([400, 401, 429, 431, 508]).toContain(response?.status);
      expect(Object.keys(JSON.parse(response?.text ?? ""))).toEqual(["success", "error"]);
    }),
    RUNS,
  );
  expect(await deliveries()).toBe(before);
});

test("[IN-16] [IN-31] random paths and methods get a documented status", async () => {
  const piece = fc.oneof(fc.constantFrom("%", "%00", "%2F", "hk_", "..", "/", "?", "#", "%ff", "é"), fc.string());
  const method = fc.constantFrom("POST", "GET", "PUT", "HEAD", "OPTIONS", "DELETE", "BREW");
  await fc.assert(
    fc.asyncProperty(fc.array(piece), method, async (pieces, verb) => {
      const target = `/api/v1/hooks/${pieces.join("")}`.replaceAll(/[\s\u0080-\uffff]/g, "");
      expect([400, 404, 405]).toContain((await send({ method: verb, target, body: "{}" }))?.status);
    }),
    RUNS,
  );
});

test("[IN-21] a body that is cut off is not stored, and one that never ends is not read beyond its limit", async () => {
  const before = await deliveries();
  const body = '{"text":"cut"}';
  const headers = [["x-service-signature", signature(body)]] as const;
  using cut = openRaw(hooks.toolgate.baseUrl);
  const bytes = requestBytes({ target: hook.path, headers, body });
  await cut.write(bytes.subarray(0, bytes.length - 1));
  cut.cut();
  using endless = openRaw(hooks.toolgate.baseUrl);
  const chunked = [["transfer-encoding", "chunked"]] as const;
  void endless.write(requestBytes({ target: hook.path, headers: chunked, withoutLength: true }));
  const chunk = Buffer.from(`10000\r\n${"x".repeat(65_536)}\r\n`);
  for (let sent = 0; sent < 5; sent += 1) void endless.write(chunk);
  expect((await endless.nextResponse())?.status).toBe(413);
  expect((await hooks.call(hook, '{"text":"whole"}')).status).toBe(202);
  expect(await deliveries()).toBe(before + 1);
});
