import { readFile } from "node:fs/promises";
import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openChat } from "./chat/front-door.ts";
import { callHook, createHook } from "./hooks/hooks.ts";
import type { RunningToolgate } from "./running-toolgate.ts";

const PAGE = new URL("../../../docs/observability.md", import.meta.url);
/** Present only after a failure. */
const AFTER_FAULTS = [
  "toolgate_call_streams_lost_total",
  "toolgate_sandbox_children_ended_total",
  "toolgate_turn_takeovers_total",
  "toolgate_model_errors_total",
  "toolgate_chat_event_gaps_total",
];
/** Values of the test: a label that has one would grow with the number of customers. */
const CUSTOMER_VALUES = /echo|greet|w-[0-9a-f]{8}|apikey|example\.test/;

/** Names and label names of the documented metrics; a name may end in `*`. */
async function documented(): Promise<Map<string, string[]>> {
  const rows = (await readFile(PAGE, "utf8")).matchAll(/^\| `([a-z0-9_]+\*?)` \| [^|]+ \| ([^|]*)\|/gm);
  return new Map(
    [...rows].map(([, name = "", labels = ""]) => [
      name,
      [...labels.matchAll(/`([a-z]+)`/g)].map(([, label]) => label ?? ""),
    ]),
  );
}

let toolgate: RunningToolgate;
beforeAll(async () => {
  const door = await openChat("split", { alone: true });
  ({ toolgate } = door);
  await (await door.stream({ chat_id: "any", message: "greet Ada" })).ended;
  await toolgate.saveTool("echo", {
    external_api: true,
    webhook_event: true,
    handler: "export default async () => ({ success: true });",
  });
  await toolgate.createEndpoint(["tool.completed"]);
  const { secret } = await toolgate.createKey({ name: "k", tools: ["echo"], limit: 2 });
  await earlyInMinute();
  for (const status of [200, 200, 429]) expect((await toolgate.call("echo", secret)).status).toBe(status);
  expect((await toolgate.request("/no/such/path/echo")).status).toBe(404);
  await toolgate.request("/api/v1/openapi.json", { headers: { authorization: `Bearer ${secret}` } });
  expect((await callHook(toolgate, await createHook(toolgate), "{}")).status).toBe(202);
  await eventually(() => toolgate.receiver.requests.length >= 2);
});
afterAll(() => toolgate[Symbol.asyncDispose]());

const scrape = async () => (await Promise.all(toolgate.opsUrls.map((url) => text(`${url}/metrics`)))).join("");

test("the page lists what /metrics serves, and nothing else", async () => {
  const page = await documented();
  const isDocumented = (name: string) =>
    page.has(name) || [...page.keys()].some((known) => known.endsWith("*") && name.startsWith(known.slice(0, -1)));
  const expected = [...page.keys()].filter((name) => !name.endsWith("*") && !AFTER_FAULTS.includes(name));
  const served = await eventually(async () => {
    const names = new Set([...(await scrape()).matchAll(/^# TYPE (\S+) /gm)].map(([, name = ""]) => name));
    expect(expected.filter((name) => !names.has(name))).toEqual([]);
    return [...names];
  });
  expect(served.filter((name) => !isDocumented(name))).toEqual([]);
});

test("labels are the documented ones, and none has a value that belongs to a customer", async () => {
  const page = await documented();
  for (const [, name = "", labels = ""] of (await scrape()).matchAll(/^([a-z0-9_]+)\{([^}]*)\} /gm)) {
    expect(labels).not.toMatch(CUSTOMER_VALUES);
    const known = page.get(name.replace(/_(bucket|sum|count)$/, "")) ?? page.get(name);
    if (!known) continue;
    const names = [...labels.matchAll(/([a-z_]+)="/g)].map(([, label]) => label).filter((label) => label !== "le");
    expect(names.toSorted(), name).toEqual(known.toSorted());
  }
});

test("calls, refusals and deliveries are counted by route, RPC and outcome", async () => {
  await eventually(async () => {
    const all = await scrape();
    expect(sum(all, "toolgate_http_request_duration_seconds_count", 'route="/api/v1/tools/*"', 'status="200"')).toBe(2);
    expect(sum(all, "toolgate_http_request_duration_seconds_count", 'route="none"', 'status="404"')).toBe(1);
    expect(sum(all, "toolgate_rpc_duration_seconds_count", 'rpc="toolgate.tool_runner.v1.RunService/Run"')).toBe(4);
    expect(sum(all, "toolgate_turns_ended_total", 'lane="chat"', 'outcome="completed"')).toBe(1);
    expect(sum(all, "toolgate_chat_streams_ended_total", 'kind="answer"', 'outcome="done"')).toBe(1);
    expect(sum(all, "toolgate_refusals_total", 'limiter="calls"')).toBe(1);
    expect(sum(all, "toolgate_attempt_duration_seconds_count", 'outcome="2xx"')).toBe(2);
    expect(sum(all, "toolgate_deliveries_ended_total", 'outcome="delivered"')).toBe(2);
    expect(sum(all, "toolgate_hook_runs_ended_total", 'lane="tool"', 'outcome="succeeded"')).toBe(1);
    expect(sum(all, "toolgate_hook_start_delay_seconds_count", 'lane="tool"')).toBe(1);
  });
});

function sum(all: string, name: string, ...labels: string[]): number {
  const lines = all
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label)));
  return lines.reduce((total, line) => total + Number(line.split(" ").at(-1)), 0);
}

async function text(url: string): Promise<string> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return response.text();
}
