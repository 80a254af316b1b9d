import { Code } from "@connectrpc/connect";
import { ToolKind, ToolOrder } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "../tool-runner-rig.ts";

const handler = "export default () => ({ ok: true });";
const description = "d";

describe("drafts and lists of tools", () => {
  let runner: ToolRunnerRig;
  beforeAll(async () => {
    runner = await startToolRunnerRig();
  });
  afterAll(() => runner[Symbol.asyncDispose]());

  it("[MGMT] a save with an expected version fails once somebody else has saved, and changes nothing", async () => {
    const save = (expectedVersion: number, text: string) =>
      runner.tools.saveTool({ name: "edited", definition: { description: text, handler }, expectedVersion });
    await save(0, "first");
    await expect(save(0, "second")).rejects.toMatchObject({
      code: Code.Aborted,
      rawMessage: expect.stringMatching(/^admin@example\.test saved version 1 at .* UTC/),
    });
    await save(1, "third");
    await expect(save(1, "lost")).rejects.toMatchObject({ code: Code.Aborted });
    const { tool } = await runner.tools.getTool({ name: "edited" });
    expect(tool).toMatchObject({ version: 2, definition: { description: "third" } });
    await runner.tools.deleteTool({ name: "edited" });
    await expect(save(2, "lost")).rejects.toMatchObject({
      code: Code.Aborted,
      rawMessage: "the tool was deleted after you opened it",
    });
    await save(0, "again");
  });

  it("[MGMT] of two saves at the same time that expect the same version, one fails", async () => {
    await runner.saveTool("raced", { handler });
    const saves = ["a", "b"].map((text) =>
      runner.tools.saveTool({ name: "raced", definition: { description: text, handler }, expectedVersion: 1 }),
    );
    const ended = await Promise.allSettled(saves);
    expect(ended.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect((await runner.tools.getTool({ name: "raced" })).tool?.version).toBe(2);
  });

  it("[TOOL] a check lists what is wrong with a draft, with the position in its handler, and saves nothing", async () => {
    const definition = { handler: "export default () => {\n  return }\n};", timeout_ms: 0 };
    const { violations } = await runner.tools.checkTool({ name: "unsaved", definition });
    expect(violations).toMatchObject([
      { path: "description", message: "is missing", line: 0, column: 0 },
      { path: "timeout_ms", line: 0 },
      { path: "handler", line: 3, column: 1 },
    ]);
    const fixture = {
      description,
      handler,
      args_fixture: { n: 1 },
      parameters: { properties: { n: { type: "string" } } },
    };
    const published = await runner.tools.checkTool({ name: "unsaved", definition: fixture });
    expect(published.violations).toMatchObject([{ path: "args_fixture.n" }]);
    await expect(runner.tools.getTool({ name: "unsaved" })).rejects.toMatchObject({ code: Code.NotFound });
  });

  it("[EXPO-5] [EXPO-6] a check names the guarded flags that a save would newly set", async () => {
    await runner.saveTool("exposed", { external_api: true, public_api: true, handler });
    const check = async (flags: Record<string, unknown>) =>
      (await runner.tools.checkTool({ name: "exposed", definition: { description, handler, ...flags } })).newlyExposed;
    expect(await check({ external_api: true })).toEqual([]);
    expect(await check({ external_api: true, external_api_write: true, inbound_hook: "yes" })).toEqual([
      "external_api_write",
    ]);
  });

  it("[TOOL] a dry run of a draft runs its code and shows its log, without a saved tool", async () => {
    const log = async (text: string) => {
      const source = `export default (_, ctx) => { ctx.log("${text}"); return { text: "${text}" }; };`;
      const definition = { description, handler: source };
      return runner.tools.dryRun({ tool: "sketch", definition });
    };
    for (const text of ["one", "two", "one"]) {
      const { outcome, logs } = await log(text);
      expect(JSON.parse(String(outcome.value))).toEqual({ text });
      expect(logs).toEqual([expect.stringContaining(text)]);
    }
    await expect(runner.tools.getTool({ name: "sketch" })).rejects.toMatchObject({ code: Code.NotFound });
    const { executionId } = await log("logged");
    const found = await eventually(() => runner.executions.getExecution({ executionId }).catch(() => false as const));
    expect(found.execution).toMatchObject({ tool: "sketch", toolVersion: 0, entryType: "dry_run" });
    const invalid = runner.tools.dryRun({ tool: "sketch", definition: { description, handler: "nothing" } });
    await expect(invalid).rejects.toMatchObject({ code: Code.InvalidArgument });
  });

  it("[MGMT] a list of summaries finds tools by text, kind and flag, in both orders and in pages", async () => {
    const other = runner.as("admin", crypto.randomUUID()).tools;
    const save = (name: string, definition: Record<string, string | boolean | object>) =>
      other.saveTool({ name, definition: { description: `about ${name}`, ...definition }, confirmExposure: true });
    await save("zebra", { handler, external_api: true, parameters: { type: "object" }, args_fixture: {} });
    await save("call", { api: { method: "GET", url: "https://example.com/" }, async: true });
    await save("ask", { query: "orders", external_api: "yes" });
    const names = async (request: object) => (await other.listTools(request)).tools.map(({ name }) => name);
    const { tools } = await other.listTools({ summary: true });
    expect(tools.map(({ name, kind, definition }) => [name, kind, definition])).toEqual([
      ["ask", ToolKind.QUERY, { description: "about ask", external_api: "yes" }],
      ["call", ToolKind.API, { description: "about call", async: true }],
      ["zebra", ToolKind.HANDLER, { description: "about zebra", external_api: true }],
    ]);
    expect(await names({ search: "T ZEB" })).toEqual(["zebra"]);
    expect(await names({ search: "AL" })).toEqual(["call"]);
    expect(await names({ kind: ToolKind.API })).toEqual(["call"]);
    // Only what is exactly true is set.
    expect(await names({ flag: "external_api" })).toEqual(["zebra"]);
    expect(await names({ flag: "async", search: "about" })).toEqual(["call"]);
    expect(await names({ order: ToolOrder.SAVED })).toEqual(["ask", "call", "zebra"]);
    const first = await other.listTools({ order: ToolOrder.SAVED, pageSize: 2 });
    const second = await other.listTools({ order: ToolOrder.SAVED, pageSize: 2, pageToken: first.nextPageToken });
    expect(second.tools.map(({ name }) => name)).toEqual(["zebra"]);
    for (const request of [{ flag: "handler" }, { kind: 9 }, { order: 9 }, { search: "x".repeat(101) }]) {
      await expect(names(request)).rejects.toMatchObject({ code: Code.InvalidArgument });
    }
  });

  it("[MGMT] a page of large tools has fewer than were asked for, and all pages together have each tool once", async () => {
    const other = runner.as("admin", crypto.randomUUID()).tools;
    const names = Array.from({ length: 12 }, (_, index) => `tool-${String(index).padStart(2, "0")}`);
    for (const name of names) {
      await other.saveTool({ name, definition: { description: name.padEnd(10_000, " x"), handler } });
    }
    const listed: string[] = [];
    let pageToken = "";
    do {
      const page = await other.listTools({ pageSize: 100, pageToken });
      const characters = page.tools.reduce((sum, tool) => sum + JSON.stringify(tool.definition).length, 0);
      expect(page.tools.length).toBeGreaterThan(1);
      expect(characters).toBeLessThanOrEqual(64 * 1024);
      listed.push(...page.tools.map(({ name }) => name));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(listed).toEqual(names);
  });
});
