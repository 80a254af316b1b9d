import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

/** More than a silent stream or a closing server is allowed. */
const SLOW_MS = 12_000;
const SLOW_CALLS = 6;
const QUICK_EVERY_MS = 200;

let toolgate: RunningToolgate;
const lines: string[] = [];
beforeAll(async () => {
  toolgate = await runToolgate("split", { replicas: { "tool-runner": 2 }, log: (line) => lines.push(line) });
});
afterAll(() => toolgate[Symbol.asyncDispose]());

test("a tool-runner that is stopped finishes its slow calls, and the next calls go elsewhere", async () => {
  const { receiver, processes } = toolgate;
  const definition = (path: string) => ({
    external_api: true,
    timeout_ms: 25_000,
    api: { method: "POST", url: `${receiver.url}${path}` },
  });
  await toolgate.saveTool("slow", definition("/slow"));
  await toolgate.saveTool("quick", definition("/quick"));
  const { secret } = await toolgate.createKey({ name: "k", tools: ["slow", "quick"], limit: 1_000 });
  receiver.behave(({ path }) => ({ delayMs: path === "/slow" ? SLOW_MS : 0 }));
  let ended = 0;
  const slow = [...Array(SLOW_CALLS)].map(async () => {
    const { status } = await toolgate.call("slow", secret).finally(() => (ended += 1));
    return status;
  });
  await receiver.waitFor(SLOW_CALLS);

  // Each call went to the less busy of the two replicas, so both have some of them.
  const pid = processes().find(({ name }) => name === "tool-runner")?.pid ?? 0;
  expect(pid).toBeGreaterThan(0);
  process.kill(pid, "SIGTERM");
  const quick = new Set<number>();
  while (ended < SLOW_CALLS) {
    quick.add((await toolgate.call("quick", secret)).status);
    await sleep(QUICK_EVERY_MS);
  }
  expect([...quick]).toEqual([200]);
  expect(await Promise.all(slow)).toEqual(Array(SLOW_CALLS).fill(200));
  const end = await eventually(() => lines.find((line) => line.startsWith("tool-runner ended")) ?? false);
  expect(end).toContain("exit code 0");
});
