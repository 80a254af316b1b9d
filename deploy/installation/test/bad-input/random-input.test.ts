import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ECHO, type FrontDoor, openFrontDoor } from "./front-door.ts";
import { openRaw, requestBytes, sendRaw } from "./raw-http.ts";

const RUNS = { numRuns: 120 };

let door: FrontDoor;
beforeAll(async () => {
  door = await openFrontDoor();
});
afterAll(() => door[Symbol.asyncDispose]());

test("[ERR-1] random bytes as a body get 200 or 400", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (body) => {
      expect([200, 400]).toContain((await door.post({ body })).status);
    }),
    RUNS,
  );
  await door.expectUndisturbed();
});

test("[TOOL] random JSON as a body gets 200 or 400, and as an argument reaches the tool unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ noUnicodeString: false }), async (value) => {
      expect([200, 400]).toContain((await door.post({ body: JSON.stringify(value) })).status);
      const json = JSON.stringify({ any: value });
      const response = await door.post({ body: `{"args":${json}}` });
      expect(response.status).toBe(200);
      if (!json.includes("__proto__")) expect(JSON.parse(response.text).args.any).toEqual(JSON.parse(json).any);
    }),
    { numRuns: 60 },
  );
  await door.expectUndisturbed();
});

test("[TOOL-6] random paths get a documented status", async () => {
  const piece = fc.oneof(
    fc.constantFrom("%", "%00", "%2F", "%zz", "%C3%A9", "%ff", "..", "/", "?", "#", "*", "echo", "{{", "\\", "\u0080"),
    fc.string({ unit: "binary-ascii", maxLength: 5 }),
  );
  const target = fc.tuple(fc.constantFrom("", "/", "/api/v1/", "/api/v1/tools/", "http://a/"), fc.array(piece));
  await fc.assert(
    fc.asyncProperty(target, async ([start, pieces]) => {
      const { status } = await door.post({
        target: `${start}${pieces.join("")}`.replaceAll(/[\r\n]/g, ""),
        body: "{}",
      });
      expect([200, 400, 403, 404]).toContain(status);
    }),
    RUNS,
  );
  await door.expectUndisturbed();
});

test("[ERR-3] random header values get a documented status", async () => {
  const name = fc.constantFrom(
    "authorization",
    "content-type",
    "content-encoding",
    "x-forwarded-for",
    "expect",
    "accept",
    "cookie",
    "toolgate-principal",
    "connection",
    "upgrade",
    "te",
  );
  const printable = fc.string({ unit: "grapheme-ascii", maxLength: 40 });
  const any = fc.string({ unit: "binary-ascii", maxLength: 5 }).map((text) => text.replaceAll(/[\r\n]/g, ""));
  const value = fc.oneof({ weight: 4, arbitrary: printable }, any);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, value), { maxLength: 5 }), async (headers) => {
      const { status } = await door.post({ headers, body: "{}" });
      expect([200, 400, 401, 417]).toContain(status);
    }),
    RUNS,
  );
  await door.expectUndisturbed();
});

test("random bytes on a connection get a response or a close, and other connections continue", async () => {
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.uint8Array({ minLength: 1, maxLength: 300 }), async (after, bytes) => {
      using connection = openRaw(door.toolgate.baseUrl);
      if (after) await connection.write(requestBytes({ target: ECHO, headers: [door.bearer], body: "{}" }));
      await connection.write(bytes);
      connection.end();
      const response = await connection.nextResponse();
      if (response) expect([200, 400, 405]).toContain(response.status);
    }),
    RUNS,
  );
  await door.expectUndisturbed();
});

test("random calls of the management API never get an internal error", async () => {
  const { workspace } = door.toolgate.account;
  const { email, password } = door.toolgate.account;
  const login = await door.toolgate.request("/toolgate.key_auth.v1.SessionService/Login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password }),
  });
  const path = fc.constantFrom(
    "key_auth.v1.KeyService/CreateKey",
    "key_auth.v1.KeyService/ListKeyCalls",
    "key_auth.v1.KeyService/UpdateKey",
    "tool_runner.v1.ToolService/SaveTool",
    "tool_runner.v1.ToolService/GetTool",
    "tool_runner.v1.ExecutionService/ListExecutions",
    "tool_runner.v1.ToolService/SavePreparedQuery",
    "outbound_webhook.v1.EndpointService/CreateEndpoint",
    "outbound_webhook.v1.DeliveryService/ListDeliveries",
  );
  const plain = fc.string({ unit: "binary", maxLength: 10 });
  const text = fc.oneof(
    plain,
    plain.map((start) => `${start}\u0000`),
    fc.constantFrom("-1", "a".repeat(5_000)),
  );
  const member = fc.constantFrom("name", "tool", "definition", "url", "limit", "pageToken");
  const value = fc.oneof({ weight: 3, arbitrary: text }, fc.jsonValue(), fc.array(text), fc.integer(), fc.double());
  const members = fc.dictionary(member, value, { maxKeys: 3 });
  await fc.assert(
    fc.asyncProperty(path, members, async (rpc, request) => {
      const response = await sendRaw(door.toolgate.baseUrl, {
        target: `/toolgate.${rpc}`,
        headers: [
          ["content-type", "application/json"],
          ["authorization", `Bearer ${login.body.token}`],
        ],
        body: JSON.stringify({ ...request, workspace }),
      });
      expect([200, 400, 404, 409, 412, 429], response?.text).toContain(response?.status);
    }),
    RUNS,
  );
  await door.expectUndisturbed();
});
