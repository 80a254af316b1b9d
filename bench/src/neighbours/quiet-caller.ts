// The quiet workspace: calls its tools at fixed times, whether or not earlier calls have their response.
import { Agent, request } from "node:http";
import { childArgument, monotonicMs, replyToParent } from "../machine/child-process.ts";
import { summarise } from "../statistics.ts";
import type { QuietAnswer, QuietArgument, QuietOrder } from "./orders.ts";

const TICK_MS = 1;
const DRAIN_MS = 20_000;

const { port, secret, perSecond, emitEvery } = childArgument<QuietArgument>();
const agent = new Agent({ keepAlive: true, maxSockets: 512 });
let nextEvent = 0;

/** Resolves with the status; 0 when the connection broke. */
function call(tool: string, args: object): Promise<number> {
  const body = JSON.stringify({ args });
  const headers = {
    authorization: `Bearer ${secret}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
  return new Promise((resolve) => {
    const sent = request({ port, host: "127.0.0.1", method: "POST", path: `/api/v1/tools/${tool}`, headers, agent });
    sent.on("response", (response) => {
      response.resume();
      response.on("close", () => resolve(response.complete ? (response.statusCode ?? 0) : 0));
    });
    sent.on("error", () => resolve(0));
    sent.end(body);
  });
}

async function run({ forMs }: QuietOrder): Promise<QuietAnswer> {
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  const from = nextEvent;
  const startMs = monotonicMs();
  const everyMs = 1000 / perSecond;
  const count = Math.floor(forMs / everyMs);
  const open = new Set<Promise<void>>();
  const make = async (index: number, dueMs: number) => {
    const emits = index % emitEvery === 0;
    const status = emits
      ? await call("announce", { n: nextEvent++, at: dueMs })
      : await call("plain", { count: index });
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (!emits) latencies.push(monotonicMs() - dueMs);
  };
  for (let index = 0; index < count; ) {
    for (; index < count && startMs + index * everyMs <= monotonicMs(); index += 1) {
      const made = make(index, startMs + index * everyMs).finally(() => open.delete(made));
      open.add(made);
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.race([Promise.all(open), new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref())]);
  // A call without a response counts with the time that it has waited.
  for (let lost = open.size; lost > 0; lost -= 1) latencies.push(DRAIN_MS);
  return { latency: summarise(latencies), statuses, events: { from, until: nextEvent } };
}

replyToParent<QuietOrder, QuietAnswer>({}, run);
