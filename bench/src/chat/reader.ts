// Reads streams of server-sent events, from a process of its own.
import { Agent, request as sendRequest } from "node:http";
import { monotonicMs, replyToParent } from "../machine/child-process.ts";
import { summarise } from "../statistics.ts";
import type { ReadOrder, ReadResult, StreamRequest } from "./read-order.ts";

const TOKEN = /t(\d+) /g;
const TICKS_PER_MS = 10;
/** A token may be cut in two. */
const MAX_TOKEN_CHARS = 40;

const agent = new Agent({ keepAlive: true });
const held: (() => void)[] = [];

interface OneStream {
  firstMs: number;
  lastMs: number;
  tookMs: number;
  lagsMs: number[];
}

/** Resolves at the end of the response, or, to hold it open, with its first token. */
function read({ port, path, headers, body }: StreamRequest, hold: boolean): Promise<OneStream> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const method = body === undefined ? "GET" : "POST";
    const lagsMs: number[] = [];
    let firstMs = Number.NaN;
    let lastMs = Number.NaN;
    let tail = "";
    const sent = sendRequest({ host: "127.0.0.1", port, path, headers, method, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path} responded with ${response.statusCode}`));
      response.setEncoding("utf8").on("data", (piece: string) => {
        const text = tail + piece;
        let end = 0;
        for (const token of text.matchAll(TOKEN)) {
          lastMs = performance.now() - began;
          if (Number.isNaN(firstMs)) firstMs = lastMs;
          end = token.index + token[0].length;
          if (!hold) lagsMs.push(monotonicMs() - Number(token[1]) / TICKS_PER_MS);
        }
        tail = text.slice(Math.max(end, text.length - MAX_TOKEN_CHARS));
        if (hold && !Number.isNaN(firstMs)) resolve({ firstMs, lastMs, tookMs: 0, lagsMs });
      });
      response.on("end", () => resolve({ firstMs, lastMs, tookMs: performance.now() - began, lagsMs }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    if (hold) held.push(() => sent.destroy());
    sent.end(body);
  });
}

async function readAll({ requests, concurrency, hold = false }: ReadOrder): Promise<ReadResult> {
  const streams: OneStream[] = [];
  const failures = new Map<string, number>();
  let next = 0;
  const readNext = async () => {
    for (let request = requests[next++]; request; request = requests[next++]) {
      try {
        streams.push(await read(request, hold));
      } catch (error) {
        const { message } = error as Error;
        failures.set(message, (failures.get(message) ?? 0) + 1);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, requests.length) }, readNext));
  return {
    streams: streams.length,
    failures: Object.fromEntries(failures),
    first: summarise(streams.map(({ firstMs }) => firstMs)),
    last: summarise(streams.map(({ lastMs }) => lastMs)),
    took: summarise(streams.map(({ tookMs }) => tookMs)),
    tokens: summarise(streams.flatMap(({ lagsMs }) => lagsMs)),
  };
}

replyToParent({}, async (order: ReadOrder | { letGo: true }) => {
  if (!("letGo" in order)) return readAll(order);
  for (const letGo of held.splice(0)) letGo();
  return {};
});
