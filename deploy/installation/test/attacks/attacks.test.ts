import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@toolgate/testbed/eventually";
import { describe, expect, test } from "vitest";
import { type AttackKind, attackSource, KINDS } from "../../../../services/sandbox/test/kinds/kinds.ts";
import { SLOW_SOURCES } from "../../../../services/sandbox/test/kinds/sources.ts";
import { callHook, createHook } from "../hooks/hooks.ts";
import type { TopologyKind } from "../installation.ts";
import { type Clients, startLoad } from "../load/load.ts";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

/** Each attacks with half of all kinds. */
const TOPOLOGIES: readonly TopologyKind[] = ["single", "split"];
const TOOLS = Array.from({ length: 16 }, (_, n) => `bomb-${n}`);
const HELPER = { external_api: true, handler: "export default () => 1;" };
const NUMBER = { type: "object", properties: { n: { type: "integer" } } };
/** As many as a key may have. */
const LIMIT = 10_000;
/** Longer than any machine takes for a call that is the only one of its kind. */
const CALL_TIMEOUT_MS = 240_000;
const TOO_MANY_REQUESTS = 429;

describe.each(TOPOLOGIES)("in the %s topology", (topology) => {
  const attacks = KINDS.filter((_kind, index) => index % 2 === TOPOLOGIES.indexOf(topology));

  test("[TOOL-2] a workspace that attacks through 16 tools and saves new versions costs other workspaces no run", async () => {
    await using plain = await runToolgate(topology);
    await using hosted = await runToolgate(topology);
    await using hooked = await runToolgate(topology);
    // Each in a closed loop, so that no call is lost because the machine is slow.
    await using neighbours = startLoad({
      "plain call": await callsOf(plain, "plain"),
      // A run that has called the host is not begun again when it is cut off.
      "call that has called the host": await callsOf(hosted, "hosted"),
      "hook call": await hookCallsOf(hooked),
    });
    await neighbours.served();
    const calls = await attack(topology, attacks);
    await neighbours.stop();
    console.log(`${topology}: ${calls.length} attacks beside ${JSON.stringify(neighbours.done)}`);
    expect(neighbours.failures).toEqual([]);
    const lost =
      "select from inbound_hook.delivery where hook_id in (select id from inbound_hook.hook where workspace = $1)";
    const unended = async (states: string) =>
      (await hooked.pool.query(`${lost} and status not in (${states})`, [hooked.account.workspace])).rowCount;
    await eventually(async () => (await unended("'succeeded', 'failed', 'interrupted'")) === 0);
    expect(await unended("'succeeded'")).toBe(0);
    // Each attack ended with a response: its own error, or a result if it is harmless.
    expect(calls.filter(({ status }) => ![200, 400, 500].includes(status))).toEqual([]);
    expect(calls.filter(({ status }) => status === 400).length).toBeGreaterThan(attacks.length / 4);
  }, 900_000);
});

/** What the attacker got for one call. */
interface AttackCall {
  body: string;
  /** 0: no response. */
  status: number;
  /** Why there is no response. */
  failure?: string;
}

/**
 * Does what anybody could do: saves tools through the management API and calls them, every kind once, through 16 tools
 * at the same time. Meanwhile a second workspace saves sources that take long to check.
 */
async function attack(topology: TopologyKind, kinds: readonly AttackKind[]): Promise<AttackCall[]> {
  await using attacker = await runToolgate(topology);
  await using accomplice = await runToolgate(topology);
  for (const name of ["x", ...TOOLS]) await attacker.saveTool(name, HELPER);
  const { secret } = await attacker.createKey({ name: "k", tools: TOOLS, limit: LIMIT });
  const sources = Object.values(SLOW_SOURCES);
  // Most are refused.
  const save = (n: number) => accomplice.saveTool("slow", { handler: `${sources[n % sources.length]}// ${n}` });
  await using _saves = startLoad({ save: { count: 1, restMs: 0, attempt: save } });
  const calls: AttackCall[] = [];
  const waiting = kinds.entries();
  const parameters = { type: "object", properties: { first: { type: "boolean" } } };
  const attackOnce = async (name: string, number: number, body: string) => {
    await attacker.saveTool(name, { external_api: true, parameters, handler: attackSource(body, number) });
    let response = await call(attacker, name, secret, { first: number % 2 === 0 });
    while (response.status === TOO_MANY_REQUESTS) {
      // It is to go off none the less.
      await sleep(Number(response.headers.get("retry-after")) * 1_000);
      response = await call(attacker, name, secret, { first: number % 2 === 0 });
    }
    return { status: response.status };
  };
  const useTool = async (name: string) => {
    for (const [number, { body }] of waiting) {
      // One that fails does not end the others.
      const noResponse = (error: unknown) => ({ status: 0, failure: String(error) });
      calls.push({ body, ...(await attackOnce(name, number, body).catch(noResponse)) });
    }
  };
  await Promise.all(TOOLS.map(useTool));
  return calls;
}

/** Waits longer than any machine takes for it. */
const call = (toolgate: RunningToolgate, tool: string, secret: string, args: Record<string, unknown>) =>
  toolgate.call(tool, secret, args, { signal: AbortSignal.timeout(CALL_TIMEOUT_MS) });

async function callsOf(toolgate: RunningToolgate, tool: string): Promise<Clients> {
  const { saveTool, createKey } = toolgate;
  const released = { external_api: true, parameters: NUMBER };
  await saveTool("plain", { ...released, handler: "export default async ({ n }) => ({ n });" });
  const handler = "export default async ({ n }, ctx) => ({ n: (await ctx.callTool('plain', { n })).n });";
  await saveTool("hosted", { ...released, handler });
  const { secret } = await createKey({ name: "k", tools: [tool], limit: LIMIT });
  const attempt = async (n: number) => {
    const { status, text } = await call(toolgate, tool, secret, { n });
    if (status !== 200 || JSON.parse(text).n !== n) throw new Error(`${status} ${text}`);
  };
  return { count: 1, restMs: 80, attempt };
}

/** Repeated when they get a 503, as senders do. */
async function hookCallsOf(toolgate: RunningToolgate): Promise<Clients> {
  await toolgate.saveTool("hooked", { inbound_hook: true, handler: "export default async ({ n }) => ({ n });" });
  const hook = await createHook(toolgate, { target: { tool: "hooked" } });
  const attempt = async (n: number) => {
    const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
    const headers = { "x-service-delivery": `${n}` };
    for (;;) {
      const { status, text } = await callHook(toolgate, hook, JSON.stringify({ n }), { headers, signal });
      if (status === 202 || status === 200) return;
      if (status !== 503) throw new Error(`${status} ${text}`);
      await sleep(100, undefined, { signal });
    }
  };
  return { count: 1, restMs: 80, attempt };
}
