import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { KeyVerdictSchema, VerifyResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { type RunRequest, RunResponseSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { expect, test } from "vitest";
import { createRunTool, createVerifyKey } from "./hot-calls.ts";

const OPTIONS = { tool: "echo", count: true, clientIp: "203.0.113.7" };

function failing(codes: Code[]) {
  const calls: number[] = [];
  const verifyKey = createVerifyKey(async () => {
    const code = codes[calls.push(0) - 1];
    if (code !== undefined) throw new ConnectError("no", code);
    return create(VerifyResponseSchema, { key: { keyId: "k" } });
  });
  return { calls, verifyKey };
}

test("[ERR-18] a call survives the loss of one key-auth replica: it is verified once more by another", async () => {
  const once = failing([Code.Unavailable]);
  expect((await once.verifyKey("svc_live_x", OPTIONS))?.keyId).toBe("k");
  const twice = failing([Code.Unavailable, Code.Unavailable]);
  await expect(twice.verifyKey("svc_live_x", OPTIONS)).rejects.toThrow("no");
  expect(twice.calls.length).toBe(2);
});

test("[ERR-18] an error of key-auth itself is not retried", async () => {
  const refused = failing([Code.Internal]);
  await expect(refused.verifyKey("svc_live_x", OPTIONS)).rejects.toThrow("no");
  expect(refused.calls.length).toBe(1);
});

test("the body is sent with its idempotency key, and one that cannot be used is not sent", async () => {
  const requests: RunRequest[] = [];
  const runTool = createRunTool(async (request) => {
    requests.push(request);
    return create(RunResponseSchema);
  });
  const run = { tool: "echo", body: Buffer.from('{"args":{}}'), ip: "", idempotencyKey: "key-1", usage: {} };
  const bodyFault = { field: "", rule: "body", message: "too large" };
  for (const fault of [undefined, bodyFault]) {
    await runTool(create(KeyVerdictSchema, { keyId: "k" }), { ...run, bodyFault: fault });
  }
  expect(requests).toMatchObject([
    { body: run.body, idempotencyKey: "key-1" },
    { body: new Uint8Array(), bodyFault, idempotencyKey: "" },
  ]);
});
