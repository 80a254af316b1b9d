import { eventually } from "@toolgate/testbed/eventually";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { describeConsole } from "./console-rig.ts";

const HOSTILE = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>";

interface LoggedRun {
  id: string;
  tool: string;
  parentId?: string;
  requestId?: string;
}

describeConsole("runs in the console", (rig) => {
  let key: { id: string; secret: string };
  let requestId: string;
  let runs: LoggedRun[];

  beforeAll(async () => {
    const { toolgate } = rig;
    const tools = {
      rates: "export default () => ({ CHF: 0.93 });",
      convert: `export default async (_, ctx) => {
        try { await ctx.writeToSheet("s", "A1", [[1]]); } catch {}
        return ctx.callTool("rates", {});
      };`,
      declined: 'export default () => { throw new Error("the card was declined"); };',
      refund: `export default async ({ note }, ctx) => {
        ctx.log(${JSON.stringify(HOSTILE)});
        await ctx.callTool("convert", {});
        try { await ctx.callTool("declined", {}); } catch {}
        return { note };
      };`,
    };
    for (const [name, handler] of Object.entries(tools)) {
      const parameters = { type: "object", properties: { note: { type: "string" }, password: { type: "string" } } };
      await toolgate.saveTool(name, { external_api: true, handler, parameters });
    }
    key = await toolgate.createKey({ name: "Acme", tools: ["refund", "declined"], limit: 100 });
    const args = { note: HOSTILE, password: "in the arguments" };
    const called = await toolgate.call("refund", key.secret, args);
    requestId = called.headers.get("x-request-id") ?? "";
    await toolgate.call("declined", key.secret);
    await toolgate.manage("tool_runner.v1.ToolService/DryRun", { tool: "rates", args: {} });
    runs = await eventually(async () => {
      const { executions = [] } = await toolgate.manage<{ executions?: LoggedRun[] }>(
        "tool_runner.v1.ExecutionService/ListExecutions",
        {},
      );
      return executions.length === 6 && executions;
    });
  });

  const ofRequest = (tool: string) => runs.find((run) => run.tool === tool && run.requestId === requestId);

  test("[LOG-10] a run is shown with everything that it called, in order, each with its start and duration", async () => {
    const page = await rig.open(`/runs?open=${ofRequest("refund")?.id}`);
    const panel = page.getByRole("complementary", { name: "Run of refund" });
    await panel.getByText(/^refund succeeded after [\d,]+ ms\.$/).waitFor();
    const rows = panel.getByRole("table", { name: "Timeline" }).getByRole("row");
    const shown = (await rows.allInnerTexts()).slice(1).map((text) => text.replaceAll(/\s+/g, " ").trim());
    const patterns = [
      /^refund \+0 ms [\d,]+ ms$/,
      /^convert \+[\d,]+ ms [\d,]+ ms$/,
      /^Failed write sheet refused: the run is read-only \+[\d,]+ ms [\d,]+ ms$/,
      /^rates \+[\d,]+ ms [\d,]+ ms$/,
      /^Failed declined \+[\d,]+ ms [\d,]+ ms$/,
    ];
    for (const [index, pattern] of patterns.entries()) expect(shown[index]).toMatch(pattern);
    expect(shown).toHaveLength(patterns.length);
    await expectAccessible(page);
    // A nested run opens in its place, and leads back to the run that called it.
    await rows.getByRole("link", { name: "declined" }).click();
    const nested = page.getByRole("complementary", { name: "Run of declined" });
    await nested.getByText(/^declined failed after [\d,]+ ms: the card was declined$/).waitFor();
    await nested.getByRole("link", { name: "Open the run that called it" }).click();
    await panel.waitFor();
    await panel.getByRole("link", { name: "Acme" }).click();
    await page.getByRole("complementary", { name: "Acme" }).waitFor();
  });

  test("[LOG-10] what a tool was given, returned and logged stays text, with secrets removed", async () => {
    const page = await rig.open(`/runs?open=${ofRequest("refund")?.id}`);
    const text = (name: string) => page.getByRole("region", { name }).innerText();
    expect(JSON.parse(await text("Arguments"))).toEqual({ note: HOSTILE, password: "[entfernt]" });
    expect(JSON.parse(await text("Result"))).toEqual({ note: HOSTILE });
    expect(await text("Logs")).toBe(HOSTILE);
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(await page.title()).toBe("Runs · Toolgate");
  });

  test("[LOG-10] [LOG-11] filters find runs by tool, entry, outcome, caller and request, and survive a reload", async () => {
    const page = await rig.open("/runs");
    const rows = page.getByRole("table", { name: "Runs" }).locator("[data-row]");
    const shows = (...tools: string[]) =>
      eventually(async () => expect((await rows.allInnerTexts()).sort()).toEqual(tools.sort()) ?? true);
    await shows("refund", "convert", "rates", "declined", "declined", "rates");
    await page.getByLabel("Outcome").selectOption("Failed");
    await shows("declined", "declined");
    await page.getByLabel("Tool or request id").fill(requestId);
    await shows("declined");
    await page.getByLabel("Caller").selectOption("Acme");
    const url = new URL(page.url()).searchParams;
    expect(Object.fromEntries(url)).toMatchObject({ outcome: "failed", request: requestId, caller: key.id });
    await page.reload();
    await shows("declined");
    expect(await page.getByLabel("Tool or request id").inputValue()).toBe(requestId);
    await page.getByLabel("Tool or request id").fill("no-such-tool");
    await page.getByText("Nothing here fits the filters.").waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByLabel("Started by").selectOption("Dry run");
    await shows("rates");
    await expectAccessible(page);
  });

  test("[LOG-10] [MGMT-4] the list of tools shows their runs by hour, and asks for them only if the user may read runs", async () => {
    const page = await rig.open("/tools");
    const bars = page.getByRole("img", { name: /^Runs of declined in the last 24 hours: / });
    await bars.waitFor();
    // The hour may have changed since the first run.
    const texts = await bars.locator("title").allTextContents();
    const counts = texts.map((text) => /: (\d), (\d) failed; half within \d+ ms/.exec(text)?.slice(1).map(Number));
    expect(counts.flat().reduce((sum = 0, count = 0) => sum + count, 0)).toBe(4);
    const asked = `performance.getEntriesByType("resource").filter(({ name }) => name.includes("GetHourlyCounts")).length`;
    expect(await page.evaluate<number>(asked)).toBe(1);
    const member = await rig.open("/tools", { user: await rig.addUser("member") });
    await member.getByRole("row", { name: /declined/ }).waitFor();
    await member.waitForLoadState("networkidle");
    expect(await member.evaluate<number>(asked)).toBe(0);
  });
});
