import { createHmac } from "node:crypto";
import type { ReceivedRequest } from "@toolgate/testbed/behaviour";
import { eventually } from "@toolgate/testbed/eventually";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TopologyKind } from "../installation.ts";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

const REPORTED = {
  external_api: true,
  webhook_event: true,
  parameters: { type: "object", properties: { text: { type: "string" }, password: { type: "string" } } },
  handler: "export default async (args) => ({ success: true, token: 'abc', _internal: 1, text: args.text });",
};

/** Checks the signature like a receiver that knows only the documentation. */
function expectSigned({ headers, body }: ReceivedRequest, secret: string): void {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["x-service-signature"])) ?? [];
  expect(v1).toBe(createHmac("sha256", secret).update(`${t}.`).update(body).digest("hex"));
  expect(Math.abs(Number(t) - Date.now() / 1000)).toBeLessThan(300);
  new Webhook(secret).verify(body, headers as Record<string, string>);
}

describe.each<TopologyKind>(["single", "split"])("in the %s topology", (kind) => {
  let toolgate: RunningToolgate;
  let endpoint: { id: string; secret: string };
  let key: { id: string; secret: string };
  beforeAll(async () => {
    toolgate = await runToolgate(kind);
    await toolgate.saveTool("reported", REPORTED);
    endpoint = await toolgate.createEndpoint(["tool.completed", "custom.*"]);
    key = await toolgate.createKey({ name: "k", tools: ["reported"] });
  });
  afterAll(() => toolgate[Symbol.asyncDispose]());

  test("[OUT-1] [OUT-2] [OUT-22] [EVT-1] [EVT-2] [EVT-8] [EVT-23] [EVT-26] [EVT-31] [EVT-32] a run by key is reported by a signed POST of its envelope, without secrets", async () => {
    const before = toolgate.receiver.requests.length;
    await toolgate.call("reported", key.secret, { text: "hook", password: "hunter2" });
    const request = (await toolgate.receiver.waitFor(before + 1))[before] as ReceivedRequest;
    expect([request.method, request.path]).toEqual(["POST", "/hook"]);
    expect(request.headers).toMatchObject({ "x-service-event": "tool.completed", "x-service-hop": "1" });
    expectSigned(request, endpoint.secret);
    const envelope = JSON.parse(request.body.toString());
    expect(envelope).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      type: "tool.completed",
      api_version: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
      created: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/),
      workspace: toolgate.account.workspace,
      data: {
        tool: "reported",
        success: true,
        error: null,
        entry_type: "api_key",
        execution_id: expect.any(String),
        duration_ms: expect.any(Number),
        args: { text: "hook", password: "[entfernt]" },
        result: { success: true, token: "[entfernt]", text: "hook" },
      },
    });
    await eventually(async () => {
      const { rows } = await toolgate.pool.query("select tool from tool_runner.executions where id = $1", [
        envelope.data.execution_id,
      ]);
      expect(rows).toEqual([{ tool: "reported" }]);
    });
  });
});
