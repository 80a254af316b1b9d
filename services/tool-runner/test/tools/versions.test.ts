import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "../tool-runner-rig.ts";

const handler = (n: number) => `export default () => ({ n: ${n} });`;

describe("versions of a tool", () => {
  let runner: ToolRunnerRig;
  beforeAll(async () => {
    runner = await startToolRunnerRig();
  });
  afterAll(() => runner[Symbol.asyncDispose]());

  it("[TOOL] every save is stored, listed newest first in pages, and can be read", async () => {
    for (let n = 1; n <= 5; n += 1) await runner.saveTool("kept", { handler: handler(n) });
    const first = await runner.tools.listToolVersions({ name: "kept", pageSize: 2 });
    expect(first.versions.map(({ version, current, savedBy }) => [version, current, savedBy])).toEqual([
      [5, true, "admin@example.test"],
      [4, false, "admin@example.test"],
    ]);
    const second = await runner.tools.listToolVersions({ name: "kept", pageSize: 2, pageToken: first.nextPageToken });
    const third = await runner.tools.listToolVersions({ name: "kept", pageSize: 2, pageToken: second.nextPageToken });
    expect([...second.versions, ...third.versions].map(({ version }) => version)).toEqual([3, 2, 1]);
    expect(third.nextPageToken).toBe("");
    const forged = Buffer.from('{"version":"2147483648"}').toString("base64url");
    const refused = runner.tools.listToolVersions({ name: "kept", pageToken: forged });
    await expect(refused).rejects.toMatchObject({ code: Code.InvalidArgument });
    const { tool } = await runner.tools.getToolVersion({ name: "kept", version: 2 });
    expect(tool).toMatchObject({ version: 2, definition: { handler: handler(2) } });
  });

  it("[OAPI-4] a name that differs from another tool's only in case is refused, until that one is deleted", async () => {
    await runner.saveTool("findOrders", { handler: handler(1) });
    await runner.saveTool("findOrders", { handler: handler(2) });
    const save = () => runner.saveTool("FindOrders", { handler: handler(3) });
    await expect(save()).rejects.toMatchObject({
      code: Code.AlreadyExists,
      rawMessage: "name: there is a tool findOrders already",
    });
    await runner.tools.deleteTool({ name: "findOrders" });
    await save();
    const restore = runner.tools.restoreToolVersion({ name: "findOrders", version: 1 });
    await expect(restore).rejects.toMatchObject({ code: Code.AlreadyExists });
  });

  it("[TOOL] a parameter whose name has a control character is refused", async () => {
    const parameters = { type: "object", properties: { "a\u202eb": { type: "string" } } };
    await expect(runner.saveTool("unreadable", { handler: handler(1), parameters })).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringContaining("must not contain control characters"),
    });
  });

  it("[EXPO] [EXPO-3] [EXPO-4] every flag that a restored version sets counts as newly set", async () => {
    await runner.saveTool("flagged", { external_api: true, public_api: true, handler: handler(1) });
    await runner.saveTool("flagged", { external_api: true, handler: handler(2) });
    await runner.saveTool("flagged", { handler: handler(3) });
    for (const version of [1, 2]) {
      const refused = runner.tools.restoreToolVersion({ name: "flagged", version });
      await expect(refused).rejects.toMatchObject({
        code: Code.Aborted,
        rawMessage: expect.stringContaining("external_api"),
      });
    }
    expect((await runner.tools.getTool({ name: "flagged" })).tool?.version).toBe(3);
    await runner.tools.restoreToolVersion({ name: "flagged", version: 3 });
    await runner.tools.restoreToolVersion({ name: "flagged", version: 1, confirmExposure: true });
    const again = runner.tools.restoreToolVersion({ name: "flagged", version: 2 });
    await expect(again).rejects.toMatchObject({ code: Code.Aborted });
  });

  it("[TOOL] a deleted tool can be restored", async () => {
    await runner.saveTool("deleted", { external_api: true, handler: handler(1) });
    await runner.tools.deleteTool({ name: "deleted" });
    expect((await runner.tools.listToolVersions({ name: "deleted" })).versions).toMatchObject([{ current: false }]);
    await runner.tools.restoreToolVersion({ name: "deleted", version: 1, confirmExposure: true });
    expect(await runner.resultOf({ tool: "deleted" })).toEqual({ n: 1 });
  });

  it("[TOOL] an old version that is no longer valid is refused with the path of the violation", async () => {
    await runner.saveTool("aged", { handler: handler(1) });
    await runner.saveTool("aged", { handler: handler(2) });
    await runner.pool.query(
      `update tool_runner.tool_versions set definition = definition || '{"gone_member": 1}' where name = 'aged' and version = 1`,
    );
    const refused = runner.tools.restoreToolVersion({ name: "aged", version: 1 });
    await expect(refused).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: /gone_member/ });
  });

  it("[TOOL] a tool's own limits on time and size end its runs", async () => {
    const parameters = { type: "object", properties: { chars: { type: "integer" } } };
    const released = { external_api: true, parameters, max_result_bytes: 100 };
    const sized = { ...released, handler: 'export default ({ chars }) => ({ text: "x".repeat(chars) });' };
    await runner.saveTool("sized", sized);
    expect(await runner.resultOf({ tool: "sized", args: { chars: 80 } })).toEqual({ text: "x".repeat(80) });
    expect((await runner.call({ tool: "sized", args: { chars: 100 } })).outcome.case).toBe("toolFailed");
    runner.receiver.behave(() => ({ body: "x".repeat(200) }));
    await runner.saveTool("sized_api", { ...released, api: { method: "GET", url: `${runner.receiver.url}/large` } });
    expect((await runner.call({ tool: "sized_api" })).outcome.case).toBe("toolFailed");
    await runner.saveTool("timed", {
      external_api: true,
      timeout_ms: 100,
      handler: "export default () => new Promise(() => {});",
    });
    expect((await runner.call({ tool: "timed" })).outcome.case).toBe("toolFailed");
    const tooLarge = runner.saveTool("sized", { ...sized, max_result_bytes: 1024 * 1024 + 1 });
    await expect(tooLarge).rejects.toThrow(/max_result_bytes/);
  });
});
