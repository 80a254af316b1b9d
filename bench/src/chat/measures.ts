import { setTimeout as sleep } from "node:timers/promises";
import type { BenchProcess } from "../machine/child-process.ts";
import { startMeter, type Usage } from "../machine/meter.ts";
import type { ReadOrder, ReadResult } from "./read-order.ts";
import type { ResumableSubject, Subject, SubjectName } from "./subjects.ts";

export type Measured = { name: SubjectName; result: ReadResult };
export type Streaming = Measured & { usage: Usage; answers: number; wantedTokens: number };
export type Idle = Measured & { usage: Usage };
export type ChatRows = { firstToken: Measured[]; resume: Measured[]; streaming: Streaming[]; idle: Idle[] };

export type Reader = BenchProcess<object, ReadOrder | { letGo: true }, ReadResult>;

const WARM_UPS = 30;
export const RESUMED_TOKENS = 310;
export const ANSWERS = 300;
const TOKENS = 450;
export const TOKENS_PER_SECOND = 30;
export const IDLE_STREAMS = 10_000;
/** Running answers that the idle streams follow. */
const IDLE_ANSWERS = 40;
/** A token now and then keeps the call to the model alive. */
const IDLE_MESSAGE = "1000 tokens at 0.025";
const OPENED_AT_ONCE = 50;
/** Longer than the pause between two heartbeats. */
const IDLE_MS = 20_000;

/** What is measured of each subject. Each request but those that resume is a new chat. */
export function chatMeasures(reader: Reader, signal: AbortSignal, log: (line: string) => void) {
  let chats = 0;
  const asks = (subject: Subject, count: number, message: string) =>
    Array.from({ length: count }, () => subject.ask(chats++, message));

  async function firstToken(subject: Subject, rounds: number): Promise<Measured> {
    await reader.ask({ requests: asks(subject, Math.min(WARM_UPS, rounds), "3 tokens at 0"), concurrency: 1 });
    const result = await reader.ask({ requests: asks(subject, rounds, "3 tokens at 0"), concurrency: 1 });
    log(`first token: ${subject.name} p50 ${result.first.p50Ms.toFixed(2)} ms`);
    return { name: subject.name, result };
  }

  async function resume(
    subject: ResumableSubject,
    message: string,
    rounds: number,
  ): Promise<Measured & { chat: number }> {
    const chat = chats++;
    await reader.ask({ requests: [subject.ask(chat, message)], concurrency: 1 });
    const requests = await Promise.all(Array.from({ length: rounds }, () => subject.resume(chat)));
    const result = await reader.ask({ requests, concurrency: 1 });
    const { last, took, failures } = result;
    log(
      `resume: ${subject.name} p99 ${last.p99Ms.toFixed(1)}, ${took.p99Ms.toFixed(1)} ms ${JSON.stringify(failures)}`,
    );
    return { name: subject.name, result, chat };
  }

  async function streaming(subject: Subject, answers: number): Promise<Streaming> {
    using meter = startMeter({ ...subject.groups, reader: { pids: [reader.pid], take: "these" } });
    const requests = asks(subject, answers, `${TOKENS} tokens at ${TOKENS_PER_SECOND}`);
    const result = await reader.ask({ requests, concurrency: answers });
    const usage = meter.stop();
    const { p50Ms, p99Ms } = result.tokens;
    log(`streaming: ${subject.name} ${answers} answers, token p50 ${p50Ms.toFixed(1)} p99 ${p99Ms.toFixed(1)} ms`);
    return { name: subject.name, result, usage, answers, wantedTokens: answers * TOKENS };
  }

  /** Streams of a subject that can resume follow a few answers; else, each is an answer. */
  async function idle(subject: Subject): Promise<Idle> {
    using meter = startMeter(subject.groups);
    const answers = subject.resume ? IDLE_ANSWERS : IDLE_STREAMS;
    const first = chats;
    const started = { requests: asks(subject, answers, IDLE_MESSAGE), concurrency: OPENED_AT_ONCE, hold: true };
    let result = await reader.ask(started);
    if (subject.resume) {
      const requests = [];
      for (let index = 0; index < IDLE_STREAMS - answers; index += 1) {
        requests.push(await subject.resume(first + (index % answers)));
      }
      result = await reader.ask({ requests, concurrency: OPENED_AT_ONCE, hold: true });
      result.streams += answers;
    }
    await sleep(IDLE_MS, undefined, { signal });
    const usage = meter.stop();
    log(`idle: ${subject.name} ${result.streams} streams ${JSON.stringify(result.failures)}`);
    await reader.ask({ letGo: true });
    const { stop } = subject;
    if (stop) {
      const stops = Array.from({ length: answers }, (_, index) => stop(first + index));
      await reader.ask({ requests: stops, concurrency: OPENED_AT_ONCE });
    }
    return { name: subject.name, result, usage };
  }

  return { firstToken, resume, streaming, idle };
}
