// The customers' servers, all in one process: they count events and remember when each one arrived.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { childArgument, monotonicMs, replyToParent } from "../machine/child-process.ts";
import { summarise } from "../statistics.ts";
import type { ReceiverAnswer, ReceiverArgument, ReceiverOrder, Stamp } from "./messages.ts";

const KEEP_ALIVE_MS = 120_000;

const latencyOf = new Map<number, number>();
const respondAfterMs = new Map<string, number>();
let repeated = 0;

function receive(request: IncomingMessage, response: ServerResponse): void {
  const slowMs = respondAfterMs.get(request.url ?? "");
  if (slowMs !== undefined) {
    request.resume();
    setTimeout(() => response.writeHead(204).end(), slowMs);
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const nowMs = monotonicMs();
    const { data } = JSON.parse((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))?.toString() ?? "") as {
      data: Stamp;
    };
    if (latencyOf.has(data.n)) repeated += 1;
    else latencyOf.set(data.n, nowMs - data.at);
    response.writeHead(204).end();
  });
}

function report(order: ReceiverOrder): ReceiverAnswer {
  const figures = { atMs: monotonicMs(), received: latencyOf.size, repeated };
  if (order.kind === "slow") for (const path of order.paths) respondAfterMs.set(path, order.respondAfterMs);
  if (order.kind !== "report") return figures;
  const latencies: number[] = [];
  for (let n = order.from; n < order.until; n += 1) {
    const latency = latencyOf.get(n);
    if (latency !== undefined) latencies.push(latency);
  }
  return { ...figures, latency: summarise(latencies) };
}

const { key, cert } = childArgument<ReceiverArgument>();
const server = createServer({ key, cert, keepAliveTimeout: KEEP_ALIVE_MS }, receive);
server.listen(0, "127.0.0.1", () => {
  replyToParent({ port: (server.address() as AddressInfo).port }, async (order: ReceiverOrder) => report(order));
});
