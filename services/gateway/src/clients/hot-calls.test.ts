import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { KeyVerdictSchema, VerifyResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { type RunRequest, type RunResponse, RunResponseSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { expect, test } from "vitest";
import { createRunTool, createVerifyKey, type ToolRun } from "./hot-calls.ts";

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

/** What tool-runner gets. */
async function sent(run: Partial<ToolRun>): Promise<RunRequest> {
  const requests: RunRequest[] = [];
  const runTool = createRunTool(async (request) => {
    requests.push(request);
    return create(RunResponseSchema);
  });
  const defaults = {
    tool: "echo",
    body: Buffer.from("{}"),
    bodyFault: undefined,
    ip: "",
    idempotencyKey: "key-1",
    usage: {},
  };
  await runTool(create(KeyVerdictSchema, { keyId: "k" }), { ...defaults, ...run });
  return requests[0] as RunRequest;
}

test("a tool-runner that does not know body faults gets a body that it refuses, and no idempotency key", async () => {
  const bodyFault = { field: "", rule: "body", message: "too large" };
  for (const body of [new Uint8Array(), Buffer.from('{"args":{}}')]) {
    const request = await sent({ body, bodyFault });
    expect(request.bodyFault).toMatchObject(bodyFault);
    expect([Buffer.from(request.body).toString(), request.idempotencyKey]).toEqual(["\0", ""]);
  }
});

test("a usable body is sent as received, with its idempotency key", async () => {
  const request = await sent({ body: Buffer.from('{"args":{}}') });
  expect(request.bodyFault).toBeUndefined();
  expect([Buffer.from(request.body).toString(), request.idempotencyKey]).toEqual(['{"args":{}}', "key-1"]);
});

test("[FAIR] a workspace whose calls do not end, whoever waits for them, leaves places for others", async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<RunResponse>();
  const runTool = createRunTool(() => ended);
  const call = { tool: "echo", body: Buffer.from("{}"), bodyFault: undefined, ip: "", idempotencyKey: "", usage: {} };
  const run = (workspaceId: string) => runTool(create(KeyVerdictSchema, { keyId: "k", workspaceId }), call);
  const refused: unknown[] = [];
  const calls = Array.from({ length: 3_000 }, () => run("noisy").catch((error: unknown) => refused.push(error)));
  const quiet = run("quiet");
  end(create(RunResponseSchema));
  await quiet;
  await Promise.all(calls);
  expect(refused).toHaveLength(3_000 - 2_048);
  expect(refused[0]).toMatchObject({ code: Code.ResourceExhausted });
  await run("noisy");
});
