import { toJson } from "@bufbuild/protobuf";
import { type ListValue, ListValueSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { type MailTrap, startMailTrap } from "@toolgate/testbed/servers/mail-trap";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "../tool-runner-rig.ts";

const WRITING = { external_api: true, external_api_write: true };

describe("sheets and emails of tools", () => {
  let mailbox: MailTrap;
  let runner: ToolRunnerRig;
  beforeAll(async () => {
    mailbox = await startMailTrap();
    runner = await startToolRunnerRig({ config: { mail: { smtpUrl: mailbox.url, from: "tools@gate.example" } } });
    await runner.saveTool("host", {
      ...WRITING,
      parameters: { type: "object", properties: { name: { type: "string" }, args: { type: "array" } } },
      handler: `export default async ({ name, args }, ctx) => {
        try { return { value: await ctx[name](...args) }; } catch (error) { return { code: error.code, message: error.message }; }
      };`,
    });
    await runner.saveTool("many_mails", {
      ...WRITING,
      handler: `export default async (_, ctx) => {
        let sent = 0;
        try { for (; sent < 30; sent += 1) await ctx.sendMail({ to: "a@b.test", subject: "s", text: "t" }); }
        catch (error) { return { sent, code: error.code }; }
      };`,
    });
  });
  afterAll(async () => {
    await runner[Symbol.asyncDispose]();
    await mailbox[Symbol.asyncDispose]();
  });

  const host = (name: string, ...args: (string | object | number | null)[]) =>
    runner.resultOf({ tool: "host", args: { name, args: args as never } });
  const values = async (...args: string[]) => ((await host("readSheet", ...args)).value as { values: unknown }).values;

  it("[RO-5] [RO-6] cells are written, read, overwritten and cleared", async () => {
    const rows = [
      ["id", "ok", 1.5],
      ["ü", true, null],
    ];
    expect(await host("writeToSheet", "orders", "B2", rows)).toEqual({
      value: { success: true, range: "B2:D3", cells: 6 },
    });
    expect(await values("orders")).toEqual([
      [null, null, null, null],
      [null, ...(rows[0] ?? [])],
      [null, ...(rows[1] ?? [])],
    ]);
    expect(await values("orders", "d3:c2")).toEqual([
      ["ok", 1.5],
      [true, null],
    ]);
    await host("writeToSheet", "orders", "C2:D2", [[null, "new"]]);
    expect(await values("orders", "B2:D2")).toEqual([["id", null, "new"]]);
    const versions = async () => {
      const select = "select row_number, column_number, xmin from tool_runner.sheet_cells order by 1, 2";
      return (await runner.pool.query(select)).rows;
    };
    const before = await versions();
    await host("writeToSheet", "orders", "B2:D2", [["id", null, "new"]]);
    expect(await versions()).toEqual(before);
    expect(await host("clearFromSheet", "orders", "B2:D2")).toEqual({ value: { success: true, cells: 2 } });
    expect(await host("clearFromSheet", "orders")).toEqual({ value: { success: true, cells: 2 } });
    expect(await values("orders")).toEqual([]);
  });

  it("[TOOL] values that do not fit are refused and write nothing", async () => {
    await host("writeToSheet", "strict", "A1", [[1]]);
    for (const [range, rows] of [
      ["A1:B1", [[1, 2, 3]]],
      ["A0", [[1]]],
      ["A1", "text"],
    ] as [string, object][]) {
      expect(await host("writeToSheet", "strict", range, rows)).toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    expect(await values("strict")).toEqual([[1]]);
    expect(await host("readSheet", "nowhere")).toMatchObject({ code: "NO_SUCH_SHEET" });
    expect(await host("writeToSheet", "", "A1", [[1]])).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("[TOOL] cells that are more than a host call may return are refused, and fewer of them can be read", async () => {
    const row = new Array(100).fill("é".repeat(5_000));
    for (let index = 1; index <= 8; index += 1) await host("writeToSheet", "heavy", `A${index}`, [row]);
    expect(await host("readSheet", "heavy")).toMatchObject({ code: "RESULT_TOO_LARGE" });
    await runner.saveTool("count_rows", {
      ...WRITING,
      handler: `export default async (_, ctx) => ({ rows: (await ctx.readSheet("heavy", "A1:CV7")).values.length });`,
    });
    expect(await runner.resultOf({ tool: "count_rows" })).toEqual({ rows: 7 });
    const { dataSource } = runner;
    await expect(dataSource.readSheet({ name: "heavy", range: "A1:CV2" })).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
    const read = await dataSource.readSheet({ name: "heavy", range: "A1:CV1" });
    expect(toJson(ListValueSchema, read.values as ListValue)).toEqual([row]);
  });

  it("[TOOL] the cells of a sheet and the sheets of a workspace are limited", async () => {
    const block = Array.from({ length: 100 }, () => new Array(100).fill(1));
    for (let index = 0; index < 10; index += 1) await host("writeToSheet", "full", `A${index * 100 + 1}`, block);
    expect(await host("writeToSheet", "full", "A1001", [[1]])).toMatchObject({ code: "SHEET_FULL" });
    expect(await host("readSheet", "full")).toMatchObject({ code: "INVALID_ARGUMENT" });
    const { rows } = await runner.pool.query("select count(*)::int as n from tool_runner.sheets");
    await runner.pool.query(
      "insert into tool_runner.sheets (workspace_id, name) select $1, 'filler' || i from generate_series(1, $2) as i",
      [runner.workspaceId, 100 - rows[0].n],
    );
    expect(await host("writeToSheet", "one too many", "A1", [[1]])).toMatchObject({ code: "TOO_MANY_SHEETS" });
    expect((await runner.dataSource.listSheets({})).names).toHaveLength(100);
  });

  it("[MGMT] members read sheets, administrators delete them", async () => {
    const { dataSource } = runner.as("member");
    expect((await dataSource.readSheet({ name: "strict" })).values?.values).toHaveLength(1);
    await expect(dataSource.readSheet({ name: "strict", range: "x" })).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
    await expect(dataSource.deleteSheet({ name: "strict" })).rejects.toMatchObject({ code: Code.PermissionDenied });
    await runner.dataSource.deleteSheet({ name: "strict" });
    expect((await runner.dataSource.listSheets({})).names).not.toContain("strict");
  });

  it("[TOOL] an email contains what the tool says, and no header that the tool made up", async () => {
    const mail = { to: ["a@b.test", "c@d.test"], subject: "Grüße", text: "plain", html: "<b>rich</b>" };
    expect(await host("sendMail", mail)).toEqual({ value: { success: true } });
    const sent = mailbox.emails.at(-1);
    expect(sent?.recipients).toEqual(mail.to);
    expect(sent?.text).toContain("plain");
    expect(sent?.text).toContain("<b>rich</b>");
    const before = mailbox.emails.length;
    for (const wrong of [
      { ...mail, to: [] },
      { ...mail, to: "x" },
      { ...mail, to: "a@b.test, c@d.test" },
      { ...mail, to: new Array(21).fill("a@b.test") },
      { ...mail, subject: "two\r\nBcc: victim@b.test" },
      { ...mail, from: "boss@b.test" },
      { ...mail, attachments: [{ path: "/etc/passwd" }] },
      { ...mail, text: { path: "/etc/passwd" } },
    ]) {
      expect(await host("sendMail", wrong)).toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    expect(mailbox.emails.length).toBe(before);
  });

  it("[TOOL] a mail server that refuses is an error that the tool may catch; a call sends at most 10 emails", async () => {
    const mail = { to: "nobody@b.test", subject: "s", text: "t" };
    expect(await host("sendMail", mail)).toMatchObject({ code: "MAIL_FAILED" });
    expect(await runner.resultOf({ tool: "many_mails" })).toEqual({ sent: 10, code: "TOO_MANY_MAILS" });
  });
});
