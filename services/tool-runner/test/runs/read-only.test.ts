import { eventually } from "@toolgate/testbed/eventually";
import { type MailTrap, startMailTrap } from "@toolgate/testbed/servers/mail-trap";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "../tool-runner-rig.ts";

const READING = { external_api: true };
const WRITING = { external_api: true, external_api_write: true };

/** Every way to write, as an expression in a handler. */
const WRITES: [rule: string, name: string, expression: string][] = [
  ["RO-3", "a prepared query of mode write", 'ctx.executePreparedQuery("insert", { id: args.id })'],
  ["RO-5", "writeToSheet", 'ctx.writeToSheet("log", "A1", [[args.id]])'],
  ["RO-6", "clearFromSheet", 'ctx.clearFromSheet("full", "A1")'],
  ["RO-3", "the shared tool executePreparedQuery", 'ctx.callTool("executePreparedQuery", { name: "insert", args })'],
  [
    "RO-5",
    "the shared tool writeToSheet",
    'ctx.callTool("writeToSheet", { sheet: "log", range: "A1", values: [[args.id]] })',
  ],
  ["RO-6", "the shared tool clearFromSheet", 'ctx.callTool("clearFromSheet", { sheet: "full" })'],
];

const catching = (expression: string) => `export default async (args, ctx) => {
  try { return { success: true, value: await ${expression} }; } catch (error) { return { success: false, code: error.code, message: error.message }; }
};`;

describe("the read-only context", () => {
  let mailbox: MailTrap;
  let runner: ToolRunnerRig;
  beforeAll(async () => {
    mailbox = await startMailTrap();
    runner = await startToolRunnerRig({ config: { mail: { smtpUrl: mailbox.url, from: "tools@gate.example" } } });
    await runner.data.query("create table orders (id int)");
    await runner.data.query(
      "create function sneaky() returns void language sql as $$ insert into orders values (7) $$",
    );
    await runner.dataSource.setDataSource({ url: runner.dataUrl });
    const insert = "insert into orders values (:id) returning id";
    await runner.dataSource.savePreparedQuery({ query: { name: "insert", sql: insert, mode: 2 } });
    await runner.dataSource.savePreparedQuery({ query: { name: "list", sql: "select id from orders" } });
    await runner.dataSource.savePreparedQuery({ query: { name: "sneaky", sql: "select sneaky()", mode: 1 } });
    const parameters = { type: "object", properties: { id: { type: "integer" }, read_only: {}, ctx: {}, inner: {} } };
    for (const [index, [, , expression]] of WRITES.entries()) {
      await runner.saveTool(`reads${index}`, { ...READING, parameters, handler: catching(expression) });
      await runner.saveTool(`writes${index}`, { ...WRITING, parameters, handler: catching(expression) });
      const nested = `export default (args, ctx) => ctx.callTool("writes${index}", args);`;
      await runner.saveTool(`outer_reads${index}`, { ...READING, parameters, handler: nested });
      const reading = `export default (args, ctx) => ctx.callTool("reads${index}", args);`;
      await runner.saveTool(`outer_writes${index}`, { ...WRITING, parameters, handler: reading });
    }
    await runner.saveTool("flags", {
      ...READING,
      parameters,
      handler:
        'export default async (args, ctx) => ({ own: ctx.read_only, nested: args.inner ? 0 : (await ctx.callTool("flags", { inner: true })).own });',
    });
    await runner.saveTool("flags_writing", {
      ...WRITING,
      handler:
        'export default async (_, ctx) => ({ own: ctx.read_only, nested: (await ctx.callTool("flags", { inner: true })).own });',
    });
    await runner.saveTool("sneaky", { ...READING, handler: catching('ctx.executePreparedQuery("sneaky")') });
    await runner.saveTool("list", { ...READING, query: "list" });
    await runner.saveTool("direct", { ...READING, query: "insert", parameters });
    for (const [name, flags] of [
      ["free", READING],
      ["free_writing", WRITING],
    ] as const) {
      await runner.saveTool(name, { ...flags, handler: catching('ctx.executeQuery("delete from orders")') });
      const shared = catching('ctx.callTool("executeQuery", { sql: "select 1" })');
      await runner.saveTool(`${name}_shared`, { ...flags, handler: shared });
    }
    await runner.saveTool("mail", {
      ...READING,
      handler: catching('ctx.sendMail({ to: "ann@acme.example", subject: "Hällo", text: "from a tool" })'),
    });
    const url = `${runner.receiver.url}/posted`;
    await runner.saveTool("post", { ...READING, api: { method: "POST", url, body: { a: 1 } } });
    await runner.saveTool("fetch_post", {
      ...READING,
      handler: catching(`ctx.fetch(${JSON.stringify(url)}, { method: "POST", body: { a: 1 } })`),
    });
    await runner.saveTool("emit", {
      ...READING,
      handler: `export default async (_, ctx) => {
        await ctx.emitWebhook("from.handler", { n: 1 });
        return ctx.callTool("emitWebhookEvent", { name: "from.shared", data: { n: 2 } });
      };`,
    });
  });
  beforeEach(async () => {
    await runner.data.query("truncate orders");
    await runner.pool.query("delete from tool_runner.sheets");
    await runner.saveTool("fill", {
      ...WRITING,
      handler: 'export default (_, ctx) => ctx.writeToSheet("full", "A1", [["kept"]]);',
    });
    await runner.resultOf({ tool: "fill" });
  });
  afterAll(async () => {
    await runner[Symbol.asyncDispose]();
    await mailbox[Symbol.asyncDispose]();
  });

  /** Everything that the tools could have written. */
  async function written() {
    const orders = (await runner.data.query("select id from orders")).rows.map(({ id }) => id);
    const cells = await runner.pool.query("select sheet, value from tool_runner.sheet_cells order by sheet");
    return { orders, cells: cells.rows.map(({ sheet, value }) => [sheet, value]) };
  }
  const untouched = { orders: [], cells: [["full", "kept"]] };

  it.each(WRITES.map(([rule, name], index) => ({ rule, name, index })))(
    "[$rule] [RO-1] $name is refused to a tool called by key and writes nothing",
    async ({ index }) => {
      const result = await runner.resultOf({ tool: `reads${index}`, args: { id: 1 } });
      expect(result).toMatchObject({ success: false, code: expect.stringMatching(/^(READ_ONLY|TOOL_FAILED)$/) });
      expect(result.message).toContain("read-only");
      expect(await written()).toEqual(untouched);
    },
  );

  it.each(WRITES.map(([rule, name], index) => ({ rule, name, index })))(
    "[$rule] [RO-2] $name is refused in a nested run, even if the nested tool has the write flag",
    async ({ index }) => {
      expect(await runner.resultOf({ tool: `outer_reads${index}`, args: { id: 1 } })).toMatchObject({ success: false });
      expect(await written()).toEqual(untouched);
    },
  );

  it.each(WRITES.map(([, name], index) => ({ name, index })))(
    "[RO-7] $name works in a tool with the write flag, and in the tools that it calls",
    async ({ index }) => {
      expect(await runner.resultOf({ tool: `writes${index}`, args: { id: 1 } })).toMatchObject({ success: true });
      expect(await written()).not.toEqual(untouched);
      await runner.resultOf({ tool: "fill" });
      expect(await runner.resultOf({ tool: `outer_writes${index}`, args: { id: 1 } })).toMatchObject({ success: true });
    },
  );

  it("[RO-1] [RO-2] ctx.read_only is the state of the whole call, and no argument changes it", async () => {
    expect(await runner.resultOf({ tool: "flags" })).toEqual({ own: true, nested: true });
    expect(await runner.resultOf({ tool: "flags_writing" })).toEqual({ own: false, nested: false });
    const sent = { read_only: false, ctx: { read_only: false } };
    expect(await runner.resultOf({ tool: "flags", args: sent })).toMatchObject({ own: true });
    expect(await runner.resultOf({ tool: "reads1", args: { id: 1, ...sent } })).toMatchObject({ code: "READ_ONLY" });
  });

  it("[RO-3] a query tool of mode write is refused, one without a mode reads", async () => {
    expect((await runner.call({ tool: "direct", args: { id: 1 } })).outcome.case).toBe("toolFailed");
    expect(await runner.resultOf({ tool: "list" })).toEqual({ success: true, rows: [], row_count: 0 });
    expect(await runner.resultOf({ tool: "sneaky" })).toMatchObject({ success: false, code: "QUERY_FAILED" });
    expect(await written()).toEqual(untouched);
  });

  it("[RO-4] free SQL is refused to every call by key, even with the write flag", async () => {
    for (const tool of ["free", "free_writing", "free_shared", "free_writing_shared"]) {
      const result = await runner.resultOf({ tool });
      expect(result).toMatchObject({ success: false, message: expect.stringContaining("free SQL is refused") });
    }
  });

  it("[RO-8] a read-only run sends an email", async () => {
    expect(await runner.resultOf({ tool: "mail" })).toMatchObject({ success: true });
    const mail = await eventually(() => mailbox.emails.at(-1) ?? false);
    expect(mail.recipients).toEqual(["ann@acme.example"]);
    expect(mail.text).toContain("from a tool");
    expect(mail.text).toContain("From: tools@gate.example");
  });

  it("[RO-9] a read-only run makes a declarative call with POST, and one with fetch", async () => {
    const before = runner.receiver.requests.length;
    expect(await runner.resultOf({ tool: "post" })).toMatchObject({ success: true, status: 200 });
    await runner.resultOf({ tool: "fetch_post" });
    const made = runner.receiver.requests.slice(before);
    expect(made.map(({ method, body }) => [method, body.toString()])).toEqual([
      ["POST", '{"a":1}'],
      ["POST", '{"a":1}'],
    ]);
  });

  it("[EVT-54] [EVT-55] [EVT-56] a read-only run emits events, with the function and with the shared tool", async () => {
    expect(await runner.resultOf({ tool: "emit" })).toEqual({ success: true });
    const { rows } = await runner.pool.query("select convert_from(event, 'LATIN1') as event from tool_runner.outbox");
    const types = rows.map(({ event }) => /custom\.from\.\w+/.exec(event)?.[0]).sort();
    expect(types).toEqual(["custom.from.handler", "custom.from.shared"]);
  });

  it("[TOOL-14] a shared tool is never released to keys, and no tool can have its name", async () => {
    for (const name of ["emitWebhookEvent", "executeQuery", "executePreparedQuery", "writeToSheet", "clearFromSheet"]) {
      expect((await runner.call({ tool: name })).outcome.case).toBe("unavailable");
      await expect(runner.saveTool(name, { ...READING, handler: "export default () => 1;" })).rejects.toThrow(/shared/);
    }
  });
});
