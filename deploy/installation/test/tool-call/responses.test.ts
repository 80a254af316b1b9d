import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TopologyKind } from "../installation.ts";
import type { RunningToolgate } from "../running-toolgate.ts";
import { runWithEcho } from "./echo.ts";

describe.each<TopologyKind>(["single", "split"])("in the %s topology", (kind) => {
  let toolgate: RunningToolgate;
  beforeAll(async () => {
    toolgate = await runWithEcho(kind);
  });
  afterAll(() => toolgate[Symbol.asyncDispose]());

  test("[TOOL-1] [TOOL-5] [TOOL-11] a key runs a released tool and gets its JSON", async () => {
    const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"] });
    const response = await toolgate.call("echo", secret, { text: "hi", count: 2 });
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ success: true, args: { text: "hi", count: 2 }, read_only: true });
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  test("[TOOL-24] [TOOL-40] [TOOL-41] [TOOL-42] [TOOL-43] [TOOL-44] the tool gets the declared arguments and the server's _api_key, nothing else", async () => {
    const { id, secret } = await toolgate.createKey({ name: "Partner", tools: ["echo"] });
    const sent = { text: "x", other: 1, constructor: 1, toString: 1, _api_key: { id: "forged", extra: 1 } };
    const { body } = await toolgate.call("echo", secret, sent);
    expect(body.args).toEqual({ text: "x", _api_key: { id, name: "Partner", ip: "127.0.0.0" } });
  });

  test("[ERR-1] [ERR-2] [TOOL-26] [TOOL-30] [TOOL-32] all violations are named with field and rule, without the values sent", async () => {
    const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"] });
    const wrong = await toolgate.call("echo", secret, { text: "a secret text that is too long", count: 0 });
    expect(wrong).toMatchObject({ status: 400, body: { success: false, error: "Ungueltige Parameter" } });
    expect(wrong.body.details).toMatchObject([
      { field: "text", rule: "maxLength" },
      { field: "count", rule: "minimum" },
    ]);
    expect(wrong.text).not.toContain("a secret text");
    const missing = await toolgate.call("echo", secret, {});
    expect(missing.body.details).toMatchObject([{ field: "text", rule: "required" }]);
  });

  test("[ERR-9] [ERR-17] [ERR-19] a tool that throws gets the neutral text; the detail is in the execution log", async () => {
    await toolgate.saveTool("broken", {
      external_api: true,
      handler: 'export default () => { throw new Error("db pw 1234"); };',
    });
    const { secret } = await toolgate.createKey({ name: "k", tools: ["broken"] });
    const response = await toolgate.call("broken", secret);
    expect(response).toMatchObject({
      status: 400,
      text: '{"success":false,"error":"Tool konnte nicht ausgefuehrt werden"}',
    });
    const logged = await eventually(async () => {
      const found = await toolgate.manage<{ executions?: { error: string }[] }>(
        "tool_runner.v1.ExecutionService/ListExecutions",
        { tool: "broken" },
      );
      return found.executions?.[0] ?? false;
    });
    expect(logged.error).toContain("db pw 1234");
  });
});
