import { eventually } from "@toolgate/testbed/eventually";
import { type MailTrap, startMailTrap } from "@toolgate/testbed/servers/mail-trap";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "../tool-runner-rig.ts";

const SECRET = "a-secret-value";

describe("a dry run", () => {
  let mailbox: MailTrap;
  let runner: ToolRunnerRig;
  beforeAll(async () => {
    mailbox = await startMailTrap();
    runner = await startToolRunnerRig({ config: { mail: { smtpUrl: mailbox.url, from: "tools@gate.example" } } });
    await runner.data.query("create table orders (id serial primary key, city text)");
    await runner.dataSource.setDataSource({ url: runner.dataUrl });
    const sql = "insert into orders (city) values (:city) returning id, city";
    await runner.dataSource.savePreparedQuery({ query: { name: "insert", sql, mode: 2 } });
    await runner.dataSource.savePreparedQuery({
      query: { name: "count", sql: "select count(*)::int as n from orders" },
    });
    const hosts = [new URL(runner.receiver.url).host];
    await runner.dataSource.saveSecret({ name: "TOKEN", value: SECRET, hosts });
    const { url } = runner.receiver;
    const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    await runner.saveTool("nested", {
      external_api_write: true,
      parameters,
      api: {
        method: "PUT",
        url: `${url}/nested`,
        headers: { "x-token": "{{secret:TOKEN}}" },
        body: { city: "{{city}}" },
      },
    });
    await runner.saveTool("all", {
      external_api_write: true,
      webhook_event: true,
      parameters,
      handler: `export default async (args, ctx) => {
        const { rows } = await ctx.executePreparedQuery("insert", { city: args.city });
        const { rows: [{ n }] } = await ctx.executePreparedQuery("count");
        const sheet = await ctx.writeToSheet("orders", "A1", [[rows[0].id]]);
        const mail = await ctx.sendMail({ to: "ann@acme.example", subject: "s", text: "t" });
        await ctx.emitWebhook("order.added", { id: rows[0].id, password: "p" });
        const posted = await ctx.fetch("${url}/posted?key={{secret:TOKEN}}", { method: "POST", body: { city: args.city } });
        const read = await ctx.fetch("${url}/read");
        const nested = await ctx.callTool("nested", { city: args.city });
        return { city: rows[0].city, n, sheet, mail, posted, read: read.status, nested, caller: args._api_key.name };
      };`,
    });
    await runner.saveTool("reads", {
      parameters,
      handler: 'export default (args, ctx) => ctx.executePreparedQuery("insert", args);',
    });
    await runner.saveTool("clears", {
      external_api_write: true,
      handler: 'export default (_, ctx) => ctx.clearFromSheet("kept", "A1:B1");',
    });
    await runner.saveTool("fills", {
      external_api: true,
      external_api_write: true,
      handler: 'export default (_, ctx) => ctx.writeToSheet("kept", "A1", [[1, 2, 3]]);',
    });
    // Starts a process and connects to the data source: a dry run has 15 s, and a busy machine may need them.
    await runner.tools.dryRun({ tool: "reads", args: { city: "x" } });
  });
  afterAll(async () => {
    await runner[Symbol.asyncDispose]();
    await mailbox[Symbol.asyncDispose]();
  });

  const effects = async () => ({
    orders: (await runner.data.query("select 1 from orders")).rowCount,
    cells: (await runner.pool.query("select 1 from tool_runner.sheet_cells")).rowCount,
    events: (await runner.pool.query("select 1 from tool_runner.outbox")).rowCount,
    emails: mailbox.emails.length,
    writes: runner.receiver.requests.filter(({ method }) => method !== "GET").length,
  });

  it("[TOOL] a dry run records every write instead of making it, and the tool gets the usual results", async () => {
    const before = await effects();
    const { outcome, writes } = await runner.tools.dryRun({ tool: "all", args: { city: "Bern" } });
    expect(outcome).toMatchObject({ case: "resultJson" });
    expect(JSON.parse(String(outcome.value))).toMatchObject({
      city: "Bern",
      n: 0,
      sheet: { success: true, cells: 1 },
      mail: { success: true },
      posted: { status: 200, dry_run: true },
      read: 200,
      nested: { success: true, dry_run: true },
      caller: "admin@example.test",
    });
    expect(await effects()).toEqual(before);
    const shown = writes.map(({ tool, name, detailJson }) => [tool, name, JSON.parse(detailJson)]);
    expect(shown).toMatchObject([
      ["all", "executePreparedQuery", { query: "insert", args: { city: "Bern" } }],
      ["all", "writeToSheet", { sheet: "orders", range: "A1" }],
      ["all", "sendMail", { to: ["ann@acme.example"], subject: "s", text: "t" }],
      ["all", "emitWebhook", { type: "custom.order.added", data: { password: "[entfernt]" } }],
      ["all", "fetch", { method: "POST", body: '{"city":"Bern"}' }],
      ["nested", "api", { method: "PUT", body: '{"city":"Bern"}' }],
    ]);
    expect(JSON.stringify(shown)).not.toContain(SECRET);
  });

  it("[LOG] [EVT-24] a dry run is logged as dry_run with its recorded host calls and children, and causes no event", async () => {
    const { executionId } = await runner.tools.dryRun({ tool: "all", args: { city: "Bern" } });
    const { execution, children } = await eventually(async () => {
      const found = await runner.executions.getExecution({ executionId }).catch(() => undefined);
      return found?.children.length === 1 && found;
    });
    expect(execution).toMatchObject({
      entryType: "dry_run",
      chatId: expect.stringMatching(/^dry_run_/),
      success: true,
    });
    const recorded = execution?.hostCalls.filter((call) => call.recorded).map(({ name }) => name);
    expect(recorded).toEqual(["executePreparedQuery", "writeToSheet", "sendMail", "emitWebhook", "fetch"]);
    expect(children).toMatchObject([{ tool: "nested", entryType: "dry_run" }]);
    expect((await effects()).events).toBe(0);
  });

  it("[RO-3] a dry run shows the refusals that a read-only call would get", async () => {
    const { outcome, writes } = await runner.tools.dryRun({ tool: "reads", args: { city: "x" } });
    expect(outcome).toMatchObject({ case: "error", value: expect.stringContaining("read-only") });
    expect(writes).toEqual([]);
  });

  it("[RO-6] clearing a sheet counts the cells that it would have emptied, and leaves them", async () => {
    await runner.resultOf({ tool: "fills" });
    const { outcome, writes } = await runner.tools.dryRun({ tool: "clears" });
    expect(JSON.parse(String(outcome.value))).toEqual({ success: true, cells: 2 });
    expect(writes).toMatchObject([{ name: "clearFromSheet" }]);
    expect((await effects()).cells).toBe(3);
  });

  it("[TOOL-23] a dry run with invalid arguments is refused", async () => {
    const { executionId, outcome } = await runner.tools.dryRun({ tool: "all", args: { city: 1 } });
    expect(executionId).toBe("");
    expect(outcome).toMatchObject({
      case: "invalidArguments",
      value: { violations: [{ field: "city", rule: "type" }] },
    });
  });

  it("[TOOL] a dry run lists at most 200 writes", async () => {
    const post = `ctx.fetch("${runner.receiver.url}/posted", { method: "POST" })`;
    const seventy = `export default async (_, ctx) => { for (let n = 0; n < 70; n += 1) await ${post}; return {}; };`;
    const floods =
      'export default async (_, ctx) => { for (let n = 0; n < 3; n += 1) await ctx.callTool("seventy", {}); return {}; };';
    await runner.saveTool("seventy", { external_api_write: true, handler: seventy });
    await runner.saveTool("floods", { external_api_write: true, handler: floods });
    expect((await runner.tools.dryRun({ tool: "floods" })).writes).toHaveLength(200);
  });

  it("[TOOL] a dry run shows up to 1 MiB of what it would have written, and the length of what exceeds it", async () => {
    const text = "x".repeat(600_000);
    await runner.saveTool("large", {
      external_api_write: true,
      handler: `export default async (_, ctx) => {
        const text = "x".repeat(600_000);
        for (const n of [1, 2, 3]) await ctx.executePreparedQuery("insert", { city: "Bern", password: n, text });
        await ctx.executePreparedQuery("insert", { city: "Bern" });
        return { success: true };
      };`,
    });
    const { writes } = await runner.tools.dryRun({ tool: "large" });
    const written = { query: "insert", args: { city: "Bern", password: 1, text } };
    const tooLong = { truncated: true, characters: JSON.stringify(written).length };
    expect(writes.map(({ detailJson }) => JSON.parse(detailJson))).toEqual([
      { query: "insert", args: { city: "Bern", password: "[entfernt]", text } },
      tooLong,
      tooLong,
      { query: "insert", args: { city: "Bern" } },
    ]);
  });
});
