import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { earlyInMinute, type RunningToolgate, type TopologyKind } from "../running-toolgate.ts";
import { runWithEcho } from "./echo.ts";

interface LoggedCall {
  status: number;
  tool: string;
  ip: string;
  durationMs: number;
}

describe.each<TopologyKind>(["single", "split"])("in the %s topology", (kind) => {
  let toolgate: RunningToolgate;
  beforeAll(async () => {
    toolgate = await runWithEcho(kind);
  });
  afterAll(() => toolgate[Symbol.asyncDispose]());

  afterAll(() => toolgate[Symbol.asyncDispose]());

  /** The usage log of a key, once it has that many calls. */
  const callsOf = (keyId: string, count: number) =>
    eventually(async () => {
      const { calls = [] } = await toolgate.manage<{ calls?: LoggedCall[] }>("key_auth.v1.KeyService/ListKeyCalls", {
        keyId,
      });
      return calls.length === count && (calls as [LoggedCall, ...LoggedCall[]]);
    });

  test("[TOOL-12] a tool that returns success false still gets status 200 with what it returned, also in the log", async () => {
    const handler = 'export default () => ({ success: false, error: "sold out", left: 0 });';
    await toolgate.saveTool("sold_out", { external_api: true, handler });
    const { id, secret } = await toolgate.createKey({ name: "k", tools: ["sold_out"] });
    const response = await toolgate.call("sold_out", secret);
    expect(response).toMatchObject({ status: 200, text: '{"success":false,"error":"sold out","left":0}' });
    const [{ status }] = await callsOf(id, 1);
    expect(status).toBe(200);
  });

  test("[LOG-6] the usage log says in milliseconds how long a call took, from its arrival to its response", async () => {
    const waitMs = 300;
    await toolgate.saveTool("waits", {
      external_api: true,
      handler: `export default async (_, ctx) => ({ status: (await ctx.fetch("${toolgate.receiver.url}/slow")).status });`,
    });
    toolgate.receiver.behave(() => ({ delayMs: waitMs }));
    const { id, secret } = await toolgate.createKey({ name: "k", tools: ["waits"] });
    const begun = performance.now();
    expect(await toolgate.call("waits", secret)).toMatchObject({ status: 200, body: { status: 200 } });
    const tookMs = performance.now() - begun;
    const [{ durationMs }] = await callsOf(id, 1);
    expect(durationMs).toBeGreaterThanOrEqual(waitMs);
    expect(durationMs).toBeLessThanOrEqual(Math.ceil(tookMs));
  });

  describe("after two valid, one invalid, one unavailable and one refused call of a key", () => {
    let id: string;
    beforeAll(async () => {
      const key = await toolgate.createKey({ name: "k", tools: ["echo"], limit: 4 });
      id = key.id;
      await earlyInMinute();
      await toolgate.call("echo", key.secret, { text: "x" });
      await toolgate.call("echo", key.secret, {});
      await toolgate.call("nowhere", key.secret, {});
      await toolgate.call("echo", key.secret, { text: "y" });
      await toolgate.call("echo", key.secret, { text: "z" });
    });

    test("[LOG-2] [LOG-4] [LOG-5] the usage log has each call once, with its tool and status", async () => {
      const usage = await callsOf(id, 5);
      expect(usage.map(({ status, tool }) => [status, tool])).toEqual([
        [429, "echo"],
        [200, "echo"],
        [403, "nowhere"],
        [400, "echo"],
        [200, "echo"],
      ]);
    });

    test("[LOG-3] [LOG-7] the usage log has the calls under their key, with the shortened address", async () => {
      expect((await callsOf(id, 5)).map(({ ip }) => ip)).toEqual(Array(5).fill("127.0.0.0"));
      const { rows } = await toolgate.pool.query(
        "select distinct key_id from key_auth.api_key_requests where key_id = $1",
        [id],
      );
      expect(rows).toEqual([{ key_id: id }]);
    });

    test("[LOG-10] [LOG-11] [LOG-12] the execution log has each run, with its entry type and chat id", async () => {
      const rows = await eventually(async () => {
        const found = await toolgate.pool.query(
          "select entry_type, chat_id, success from tool_runner.executions where caller_id = $1",
          [id],
        );
        return found.rows.length === 2 && found.rows;
      });
      for (const row of rows) {
        expect(row).toMatchObject({ entry_type: "api_key", success: true });
        expect(row.chat_id).toMatch(new RegExp(`^apikey_${id}_\\d{10}_[0-9a-f]{8,}$`));
      }
    });

    test("[KEY-12] the key's total counts all calls except the refused one", async () => {
      await callsOf(id, 5);
      const { key } = await toolgate.manage<{ key: { callsTotal: string } }>("key_auth.v1.KeyService/GetKey", {
        keyId: id,
      });
      expect(key.callsTotal).toBe("4");
    });
  });
});
