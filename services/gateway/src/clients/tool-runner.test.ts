import { create } from "@bufbuild/protobuf";
import { KeyVerdictSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { type RunRequest, RunResponseSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { expect, test } from "vitest";
import { createRunTool, type ToolRun } from "./tool-runner.ts";

/** What tool-runner gets. */
async function sent(run: Partial<ToolRun>): Promise<RunRequest> {
  const requests: RunRequest[] = [];
  const runTool = createRunTool(async (request) => {
    requests.push(request);
    return create(RunResponseSchema);
  });
  const defaults = { tool: "echo", body: Buffer.from("{}"), bodyFault: undefined, ip: "", idempotencyKey: "key-1" };
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
