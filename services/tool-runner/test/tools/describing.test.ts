import { randomUUID } from "node:crypto";
import { Code, createClient } from "@connectrpc/connect";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { grantText } from "@toolgate/testbed/principals";
import { testTransport } from "@toolgate/testbed/transports";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "../tool-runner-rig.ts";

const HANDLER = "export default () => ({ success: true });";

describe("descriptions of tools", () => {
  let runner: ToolRunnerRig;
  beforeAll(async () => {
    runner = await startToolRunnerRig();
    const schema = { type: "object", properties: { a: { type: "string" }, _api_key: {} } };
    await runner.saveTool("released", {
      external_api: true,
      handler: HANDLER,
      parameters: schema,
      args_fixture: { a: "x", b: 1 },
      external_api_description: "For developers",
    });
    await runner.saveTool("writes", { external_api: true, external_api_write: true, handler: HANDLER });
    await runner.saveTool("reads", { external_api: true, api: { method: "GET", url: "https://rates.example/" } });
    await runner.saveTool("posts", { external_api: true, api: { method: "POST", url: "https://rates.example/" } });
    await runner.saveTool("later", { external_api: true, async: 1, handler: HANDLER });
    await runner.saveTool("yes", { external_api: "yes", handler: HANDLER });
    await runner.saveTool("public", { public_api: true, handler: HANDLER });
    await runner.saveTool("gone", { external_api: true, handler: HANDLER });
    await runner.tools.deleteTool({ name: "gone" });
  });
  afterAll(() => runner[Symbol.asyncDispose]());

  const asChat = () => {
    const [replica] = runner.replicas as [ToolRunnerRig["replicas"][number]];
    return createClient(ToolService, testTransport(replica.routes, undefined, "chat"));
  };
  /** As the gateway asks for a key of the workspace. */
  const described = (workspaceId: string, names: string[]) => {
    const grant = grantText({ workspaceId, workspace: "acme", keyId: "1", keyName: "Partner", tool: "" });
    return runner.tools.describeTools({ workspaceId, names, grant });
  };

  it("[OAPI-3] describes the released tools among the names, sorted, without async, deleted and other workspaces' tools", async () => {
    // More than are read at once.
    const many = Array.from({ length: 10 }, (_, index) => `z-${index}`);
    for (const name of many) await runner.saveTool(name, { external_api: true, handler: HANDLER });
    const names = ["writes", "later", "yes", "reads", "public", "gone", "nowhere", "released", "posts", ...many];
    const { tools } = await described(runner.workspaceId, names);
    expect(tools.map(({ name, version, readOnly, mayWrite }) => [name, version, readOnly, mayWrite])).toEqual([
      ["posts", 1, false, false],
      ["reads", 1, true, false],
      ["released", 1, false, false],
      ["writes", 1, false, true],
      ...many.map((name) => [name, 1, false, false]),
    ]);
    const released = tools[2];
    expect(released).toMatchObject({ description: "For developers", argsFixtureJson: '{"a":"x"}', responseJson: "" });
    expect(JSON.parse(released?.parametersJson ?? "")).toEqual({
      type: "object",
      properties: { a: { type: "string" } },
    });
    const foreign = await described(randomUUID(), names);
    expect(foreign.tools).toEqual([]);
  });

  it("[CHAT] describes to assistants the tools that exist, released or not, and shared ones, for models", async () => {
    const names = ["released", "public", "gone", "nowhere", "executeQuery"];
    const request = { workspaceId: runner.workspaceId, names, forAssistant: true };
    const { tools } = await asChat().describeTools(request);
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ["public", "public"],
      ["released", "released"],
      ["executeQuery", "Runs a statement that was not prepared."],
    ]);
    expect(JSON.parse(tools[1]?.parametersJson ?? "").properties).toEqual({ a: { type: "string" } });
    expect(tools[0]?.parametersJson).toBe("");
  });

  it("[OAPI] describes large tools, but none that have more than 3 MiB together, or 512 KiB for an assistant", async () => {
    const notes = "x".repeat(1_600_000);
    const names = ["large-1", "large-2"];
    for (const name of names) {
      await runner.saveTool(name, { external_api: true, handler: HANDLER, parameters: { type: "object", notes } });
    }
    const { tools } = await described(runner.workspaceId, ["large-1", "released"]);
    expect(tools.map(({ parametersJson }) => parametersJson.length > notes.length)).toEqual([true, false]);
    const tooLarge = expect.objectContaining({ code: Code.FailedPrecondition });
    await expect(described(runner.workspaceId, names)).rejects.toEqual(tooLarge);
    const request = { workspaceId: runner.workspaceId, names: ["large-1"], forAssistant: true };
    await expect(asChat().describeTools(request)).rejects.toEqual(tooLarge);
  });

  it("[MGMT-18] [MGMT-19] finds the released tools among the names that a key lists", async () => {
    const names = ["writes", "later", "yes", "public", "gone", "nowhere", "released"];
    const { released } = await runner.tools.checkTools({ workspaceId: runner.workspaceId, names });
    expect(released.toSorted()).toEqual(["released", "writes"]);
    const foreign = await runner.tools.checkTools({ workspaceId: randomUUID(), names });
    expect(foreign.released).toEqual([]);
  });

  it("[TOOL-14] [TOOL-15] [TOOL-17] explains to administrators why a tool is not available to keys", async () => {
    const explain = (name: string) => runner.tools.explainRelease({ workspaceId: runner.workspaceId, name });
    const open = { exists: true, released: true, releasedWithoutEffect: false, async: false };
    expect(await explain("released")).toMatchObject(open);
    expect(await explain("later")).toMatchObject({ ...open, async: true });
    expect(await explain("yes")).toMatchObject({ ...open, released: false, releasedWithoutEffect: true });
    expect(await explain("public")).toMatchObject({ ...open, released: false });
    for (const name of ["gone", "nowhere"]) expect(await explain(name)).toMatchObject({ exists: false });
  });
});
