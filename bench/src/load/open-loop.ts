import { Worker } from "node:worker_threads";
import { monotonicMs } from "../machine/child-process.ts";
import { type Connection, openConnection, requestsOf } from "./connection.ts";
import type { PacerData } from "./pacer.ts";
import { createScore, type LoadOrder, type LoadResult } from "./score.ts";

const CONNECTIONS = 256;
/** Calls that are due within one tick leave together. */
const MIN_TICK_MS = 0.5;
const LEAD_MS = 20;
const DRAIN_MS = 20_000;

/**
 * Calls that are due at times fixed beforehand, in ticks. A call that finds no free connection waits, and its latency
 * runs from the time at which it was due.
 */
export async function runOpenLoop(order: LoadOrder, perSecond: number): Promise<LoadResult> {
  const { target, warmUpMs, measureMs } = order;
  const nextRequest = requestsOf(target);
  const idle: Connection[] = [];
  const dueOf = new Map<Connection, number>();
  const waiting: number[] = [];
  const { promise: drained, resolve: onDrained } = Promise.withResolvers<void>();
  const connectTo = () => openConnection(target.port, { onAnswer, onBroken });
  for (let opened = 0; opened < CONNECTIONS; opened += 1) idle.push(await connectTo());

  const tickMs = Math.max(1000 / perSecond, MIN_TICK_MS);
  const startMs = monotonicMs() + LEAD_MS;
  const untilMs = startMs + warmUpMs + measureMs;
  const score = createScore(startMs + warmUpMs, untilMs);
  let tick = 0;
  let scheduled = 0;
  let isClosing = false;

  function send(connection: Connection, dueMs: number): void {
    dueOf.set(connection, dueMs);
    connection.send(nextRequest());
  }
  function onAnswer(connection: Connection, status: number): void {
    score.responded(status, dueOf.get(connection) ?? 0, monotonicMs());
    dueOf.delete(connection);
    const next = waiting.shift();
    if (next !== undefined) send(connection, next);
    else idle.push(connection);
    if (dueOf.size === 0 && startMs + tick * tickMs >= untilMs) onDrained();
  }
  function onBroken(connection: Connection): void {
    if (isClosing) return;
    score.broken();
    dueOf.delete(connection);
    const at = idle.indexOf(connection);
    if (at >= 0) idle.splice(at, 1);
  }
  function sendDue(): void {
    for (
      let dueMs = startMs + tick * tickMs;
      dueMs <= monotonicMs() && dueMs < untilMs;
      dueMs = startMs + tick * tickMs
    ) {
      tick += 1;
      const wanted = Math.round((tick * tickMs * perSecond) / 1000);
      for (; scheduled < wanted; scheduled += 1) {
        const connection = idle.pop();
        if (connection) send(connection, dueMs);
        else waiting.push(dueMs);
      }
    }
  }

  const workerData: PacerData = { startMs, tickMs, untilMs: untilMs + tickMs };
  const pacer = new Worker(new URL("./pacer.ts", import.meta.url), { workerData });
  pacer.on("message", sendDue);
  await new Promise((resolve) => pacer.once("exit", resolve));
  sendDue();
  if (dueOf.size > 0) await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref())]);
  isClosing = true;
  for (const connection of [...idle, ...dueOf.keys()]) connection.close();
  return score.result();
}
