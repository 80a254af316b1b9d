// The load generator, a process of its own: runs one order at a time.
import { createHmac, randomUUID } from "node:crypto";
import autocannon from "autocannon";
import { Pool } from "undici";
import { replyToParent } from "../bench-process.ts";
import { sum } from "../meter.ts";
import { summarise } from "../statistics.ts";
import type { LoadMode, LoadOrder, LoadRequest, LoadResult } from "./orders.ts";

const OPEN_CONNECTIONS = 128;
const TICK_MS = 1;
const PAUSE_AFTER_REFUSAL_MS = 20;
const REFUSALS_FROM = 429;
/** For the last responses. */
const DRAIN_MS = 20_000;

type Tally = { statuses: Record<string, number>; latenciesMs: number[] };

replyToParent<LoadOrder, LoadResult>({}, async (order) => {
  const tally: Tally = { statuses: {}, latenciesMs: [] };
  const { mode } = order;
  if (mode.kind === "closed") await runClosed(order, mode.connections, tally);
  else await runInPool(order, mode, tally);
  const responses = sum(Object.values(tally.statuses));
  return {
    statuses: tally.statuses,
    responses,
    perSecond: (responses / order.forMs) * 1000,
    latency: summarise(tally.latenciesMs),
  };
});

function count({ statuses, latenciesMs }: Tally, status: number, tookMs: number): void {
  statuses[status] = (statuses[status] ?? 0) + 1;
  latenciesMs.push(tookMs);
}

/** A request that is ready to be sent. */
function prepare({ path, headers, body, hookSecret }: LoadRequest) {
  if (hookSecret === undefined) return { method: "POST" as const, path, headers, body };
  const own = JSON.stringify({ ...JSON.parse(body), id: randomUUID() });
  const t = Math.floor(Date.now() / 1000);
  const v1 = createHmac("sha256", hookSecret).update(`${t}.${own}`).digest("hex");
  return {
    method: "POST" as const,
    path,
    headers: { ...headers, "x-service-signature": `t=${t},v1=${v1}` },
    body: own,
  };
}

async function runClosed({ port, requests, forMs }: LoadOrder, connections: number, tally: Tally): Promise<void> {
  const options = {
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: forMs / 1000,
    requests: requests.map((request) => ({
      ...prepare(request),
      ...(request.hookSecret !== undefined && {
        setupRequest: (defaults: autocannon.Request) => ({ ...defaults, ...prepare(request) }),
      }),
    })),
  };
  const { promise, resolve, reject } = Promise.withResolvers<autocannon.Result>();
  const run = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)));
  // Its own histogram has whole milliseconds.
  run.on("response", (_, status, __, tookMs) => count(tally, status, tookMs));
  const { errors } = await promise;
  if (errors > 0) tally.statuses[0] = errors;
}

async function runInPool(order: LoadOrder, mode: Exclude<LoadMode, { kind: "closed" }>, tally: Tally): Promise<void> {
  const connections = mode.kind === "open" ? OPEN_CONNECTIONS : mode.connections;
  const pool = new Pool(`http://127.0.0.1:${order.port}`, { connections, pipelining: 1 });
  const signal = AbortSignal.timeout(order.forMs + DRAIN_MS);
  let next = 0;
  const send = async (): Promise<number> => {
    const sentMs = performance.now();
    const request = order.requests[next++ % order.requests.length] as LoadRequest;
    const status = await pool.request({ ...prepare(request), signal }).then(
      async ({ statusCode, body }) => {
        await body.dump({ limit: Number.POSITIVE_INFINITY });
        return statusCode;
      },
      () => 0,
    );
    count(tally, status, performance.now() - sentMs);
    return status;
  };
  const untilMs = performance.now() + order.forMs;
  if (mode.kind === "open") await sendAtFixedTimes(send, mode.perSecond, order.forMs);
  else await Promise.all(Array.from({ length: connections }, () => repeat(send, mode.eager, untilMs)));
  await pool.destroy();
}

async function sendAtFixedTimes(send: () => Promise<number>, perSecond: number, forMs: number): Promise<void> {
  const startMs = performance.now();
  const open: Promise<number>[] = [];
  for (let passedMs = 0; passedMs < forMs; passedMs = performance.now() - startMs) {
    while (open.length < (passedMs * perSecond) / 1000) open.push(send());
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(open);
}

async function repeat(send: () => Promise<number>, eager: boolean, untilMs: number): Promise<void> {
  while (performance.now() < untilMs) {
    const status = await send();
    const isRefused = status === 0 || status >= REFUSALS_FROM;
    if (isRefused && !eager) await new Promise((resolve) => setTimeout(resolve, PAUSE_AFTER_REFUSAL_MS));
  }
}
