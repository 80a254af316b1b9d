// Reads streams of server-sent events, from a process of its own.
import { Agent, get } from "node:http";
import { monotonicMs, replyToParent } from "../bench-process.ts";
import { summarise } from "../statistics.ts";
import type { ReadOrder, ReadResult, StreamRequest } from "./read-order.ts";

const TOKEN = /t(\d+) /g;
const TICKS_PER_MS = 10;
/** A token may be cut in two. */
const MAX_TOKEN_CHARS = 40;

const agent = new Agent({ keepAlive: true });

type OneStream = { firstMs: number; lagsMs: number[] };

function read({ port, path, headers }: StreamRequest): Promise<OneStream> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const lagsMs: number[] = [];
    let firstMs = Number.NaN;
    let tail = "";
    const sent = get({ host: "127.0.0.1", port, path, headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path} responded with ${response.statusCode}`));
      response.setEncoding("utf8").on("data", (piece: string) => {
        const text = tail + piece;
        let end = 0;
        for (const token of text.matchAll(TOKEN)) {
          if (Number.isNaN(firstMs)) firstMs = performance.now() - began;
          end = token.index + token[0].length;
          lagsMs.push(monotonicMs() - Number(token[1]) / TICKS_PER_MS);
        }
        tail = text.slice(Math.max(end, text.length - MAX_TOKEN_CHARS));
      });
      response.on("end", () => resolve({ firstMs, lagsMs }));
      response.on("error", reject);
    });
    sent.on("error", reject);
  });
}

replyToParent<ReadOrder, ReadResult>({}, async ({ requests, concurrency }) => {
  const streams: OneStream[] = [];
  const failures: Record<string, number> = {};
  let next = 0;
  const readNext = async () => {
    for (let request = requests[next++]; request; request = requests[next++]) {
      try {
        streams.push(await read(request));
      } catch (error) {
        const { message } = error as Error;
        failures[message] = (failures[message] ?? 0) + 1;
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, readNext));
  return {
    failures,
    first: summarise(streams.map(({ firstMs }) => firstMs)),
    tokens: summarise(streams.flatMap(({ lagsMs }) => lagsMs)),
  };
});
