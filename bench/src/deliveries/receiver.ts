// The customers' servers, all in one process: they count events and remember how long each one took.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { childArgument, monotonicMs, replyToParent } from "../bench-process.ts";
import { summarise } from "../statistics.ts";
import type { ReceiverAnswer, ReceiverArgument, ReceiverOrder, Stamp } from "./messages.ts";

const KEEP_ALIVE_MS = 120_000;

const latencyOf = new Map<number, number>();
const respondAfterMs = new Map<string, number>();

function receive(request: IncomingMessage, response: ServerResponse): void {
  const slowMs = respondAfterMs.get(request.url ?? "");
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const nowMs = monotonicMs();
    if (slowMs === undefined) {
      note(Buffer.concat(chunks), nowMs);
      response.writeHead(204).end();
    } else setTimeout(() => response.writeHead(204).end(), slowMs);
  });
}

function note(body: Buffer, nowMs: number): void {
  const { data } = JSON.parse(body.toString()) as { data: Partial<Stamp> };
  if (data.n !== undefined && data.at !== undefined && !latencyOf.has(data.n)) latencyOf.set(data.n, nowMs - data.at);
}

async function report({ from = 0, until = 0, slow }: ReceiverOrder): Promise<ReceiverAnswer> {
  if (slow) respondAfterMs.set(slow.path, slow.afterMs);
  const latencies: number[] = [];
  for (let n = from; n < until; n += 1) {
    const latency = latencyOf.get(n);
    if (latency !== undefined) latencies.push(latency);
  }
  return { atMs: monotonicMs(), received: latencyOf.size, latency: summarise(latencies) };
}

const { key, cert } = childArgument<ReceiverArgument>();
const server = createServer({ key, cert, keepAliveTimeout: KEEP_ALIVE_MS }, receive);
server.listen(0, "127.0.0.1", () => replyToParent({ port: (server.address() as AddressInfo).port }, report));
