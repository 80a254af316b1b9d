import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { runToolgate, type TopologyKind } from "../running-toolgate.ts";

const HANDLERS = {
  big: "export default () => ({ big: 1n });",
  cycle: "export default () => { const result = {}; result.self = result; return result; };",
  outer: 'export default (_, ctx) => ctx.callTool("big", {});',
};
const FAILURE = /"level":"?(50|60|error|fatal)\b/;

test.each<TopologyKind>(["single", "split"])(
  "[ERR-18] [LOG-10] in the %s topology, a result that is not JSON is a 500 and in the execution log, and no failure to look after",
  async (kind) => {
    const lines: string[] = [];
    await using toolgate = await runToolgate(kind, { log: (line) => lines.push(line) });
    const tools = Object.keys(HANDLERS);
    for (const [name, handler] of Object.entries(HANDLERS))
      await toolgate.saveTool(name, { external_api: true, handler });
    const { secret } = await toolgate.createKey({ name: "k", tools });
    for (const name of tools) {
      const { status, text, headers } = await toolgate.call(name, secret);
      expect([name, status, text]).toEqual([name, 500, '{"success":false,"error":"Interner Fehler"}']);
      expect(headers.get("x-error-code")).toBe("INTERNAL");
    }
    await eventually(async () => {
      const calls = await toolgate.pool.query("select tool, status from key_auth.api_key_requests order by tool");
      expect(calls.rows).toEqual(tools.map((tool) => ({ tool, status: 500 })));
      const runs = await toolgate.pool.query(
        "select tool, error from tool_runner.executions where parent_id is null order by tool",
      );
      expect(runs.rows.map(({ tool }) => tool)).toEqual(tools);
      for (const { error } of runs.rows) expect(error).toContain("interrupted by a platform failure");
    });
    const dryRun = await toolgate.manage<{ error: string }>("tool_runner.v1.ToolService/DryRun", { tool: "big" });
    expect(dryRun.error).toMatch(/interrupted by a platform failure\n.*BigInt/);
    expect(lines.filter((line) => FAILURE.test(line))).toEqual([]);
  },
);
