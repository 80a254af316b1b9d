import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestWorkspace } from "../hook-rig.ts";
import { MAX_BODY_BYTES, newBody, type ReceiveRig, startReceiveRig } from "../receive-rig.ts";

let rig: ReceiveRig;
let workspace: TestWorkspace;
let hook: Awaited<ReturnType<TestWorkspace["createHook"]>>;
beforeAll(async () => {
  rig = await startReceiveRig();
  workspace = await rig.newWorkspace();
  hook = await workspace.createHook({ limit: 10_000 });
});
afterAll(() => rig?.[Symbol.asyncDispose]());

const FORM = "application/x-www-form-urlencoded";
const statusOf = async (body: string | Uint8Array, headers = {}, at = nowSeconds()) =>
  (await rig.sendSigned(hook, { body, headers, at })).status;
const nowSeconds = () => Math.floor(Date.now() / 1000);
const ofSize = (bytes: number) => `{"a":"${"x".repeat(bytes - 8)}"}`;

test("[IN-21] exactly 262144 bytes pass, and one more does not, with and without Content-Length", async () => {
  const before = (await rig.deliveriesOf(hook.id)).length;
  // The same signature each time, so that the last call is a repeat.
  const at = nowSeconds();
  for (const headers of [{}, { "transfer-encoding": "chunked" }]) {
    const passing = ofSize(MAX_BODY_BYTES - ("transfer-encoding" in headers ? 0 : 1));
    expect(await statusOf(passing, headers, at)).toBe(202);
    expect(await statusOf(ofSize(MAX_BODY_BYTES + 1), headers)).toBe(413);
  }
  expect(await statusOf(ofSize(MAX_BODY_BYTES), {}, at)).toBe(200);
  // Before the body is sent.
  expect(await statusOf("", { "content-length": 10_000_000 })).toBe(413);
  const stored = await rig.deliveriesOf(hook.id);
  expect(stored.slice(before).map(({ body }) => body.length)).toEqual([MAX_BODY_BYTES - 1, MAX_BODY_BYTES]);
});

test("[IN-19] [IN-25] bodies that are not a JSON object get 400, and nothing is stored", async () => {
  const before = (await rig.deliveriesOf(hook.id)).length;
  const gzip = { "content-encoding": "gzip" };
  const type = (name: string) => ({ "content-type": name });
  const bodies: [message: string, string | Uint8Array, object?][] = [
    ["the body is not JSON", ""],
    ["the body must be a JSON object", "[]"],
    ["the body is not in UTF-8", Buffer.from('{"a":"\xff"}', "latin1")],
    ["the body begins with a byte order mark", '\ufeff{"a":1}'],
    ["the body is nested more than 63 levels deep", `{"a":${"[".repeat(63)}${"]".repeat(63)}}`],
    ["a number has more digits than JSON numbers keep, or is too large", '{"id":1234567890123456789}'],
    ["the body must not be compressed", gzipSync("{}"), gzip],
    ["the body must be JSON or a form, and not multipart/form-data", "--x", type("multipart/form-data; boundary=x")],
    ["the body must be JSON or a form, and not application/xml", "<a/>", type("application/xml")],
    ["the body looks like JSON: send it with Content-Type: application/json", newBody(), type(FORM)],
  ];
  for (const [message, body, headers] of bodies) {
    const response = await rig.sendSigned(hook, { body, headers: { "x-service-delivery": "same", ...headers } });
    const details = [{ field: "", rule: "body", message }];
    expect([response.status, JSON.parse(response.text)]).toEqual([
      400,
      { success: false, error: "Ungueltige Anfrage", details },
    ]);
  }
  expect((await rig.deliveriesOf(hook.id)).length).toBe(before);
  // [AUTH] Only an accepted call is remembered, so that a corrected repeat works.
  expect(await statusOf(newBody(), { "x-service-delivery": "same" })).toBe(202);
  for (const name of ["text/plain", "nonsense", ""])
    expect(await statusOf(newBody(), { ...type(name), "content-encoding": "identity" })).toBe(202);
});

test("[IN-20] a form is treated like JSON, and its signature covers the bytes as they were sent", async () => {
  const headers = { "content-type": `${FORM}; charset=utf-8` };
  expect(await statusOf("b=%7B%22x%22%3A1%7D&a=1&a=2", headers)).toBe(202);
  expect(await statusOf("", headers)).toBe(202);
  expect(await statusOf("a=%ff", headers)).toBe(400);
  const [stored] = (await rig.deliveriesOf(hook.id)).slice(-2);
  expect(stored?.body.toString("utf8")).toBe("b=%7B%22x%22%3A1%7D&a=1&a=2");
  expect(stored?.content_type).toBe(`${FORM}; charset=utf-8`);
});
