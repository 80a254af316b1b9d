import { setTimeout as sleep } from "node:timers/promises";
import type { BenchInstallation } from "../installation/start-installation.ts";
import { startBenchProcess } from "../machine/child-process.ts";
import { startMeter, type Usage } from "../machine/meter.ts";
import type { LatencySummary } from "../statistics.ts";
import type { ReadOrder, ReadResult } from "./read-order.ts";
import { directSubject, relaySubject, type Subject, type SubjectName, toolgateSubject } from "./subjects.ts";

type Measured = { name: SubjectName; result: ReadResult };

export type ChatFigures = {
  firstToken: Measured[];
  resume: { events: number; took: LatencySummary };
  streaming: (Measured & { usage: Usage; wantedTokens: number })[];
  idle: (Measured & { usage: Usage })[];
};

type ChatSettings = {
  installation: BenchInstallation;
  modelPort: number;
  signal: AbortSignal;
  log: (line: string) => void;
};

const FIRST_TOKEN_ROUNDS = 200;
const WARM_UPS = 30;
const RESUMES = 200;
/** So slow that no two tokens are stored as one event. */
const RESUMED_TOKENS = 310;
const RESUMED_PER_SECOND = 9;
export const ANSWERS = 300;
export const TOKENS_PER_SECOND = 30;
const TOKENS = 450;
export const IDLE_STREAMS = 10_000;
/** Running answers that the idle streams follow. */
const IDLE_ANSWERS = 40;
/** A token now and then keeps the call to the model alive. */
const IDLE_MESSAGE = "1000 tokens at 0.025";
const OPENED_AT_ONCE = 50;
/** Longer than the pause between two heartbeats. */
const IDLE_MS = 20_000;

/** Compares answers through Toolgate with the model server itself and with a relay written by hand. */
export async function measureChat({ installation, modelPort, signal, log }: ChatSettings): Promise<ChatFigures> {
  const entry = (path: string) => new URL(path, import.meta.url);
  await using resources = new AsyncDisposableStack();
  const reader = resources.use(
    await startBenchProcess<object, ReadOrder | { letGo: true }, ReadResult>(entry("./reader.ts"), { signal }),
  );
  const relay = relaySubject(
    resources.use(
      await startBenchProcess<{ port: number }>(entry("../peers/sse-relay.ts"), { argument: { modelPort }, signal }),
    ),
  );
  const direct = directSubject(modelPort);
  const toolgate = await toolgateSubject(installation, modelPort);
  let chats = 0;
  const asks = (subject: Subject, count: number, message: string) =>
    Array.from({ length: count }, () => subject.ask(chats++, message));

  async function firstTokens(): Promise<Measured[]> {
    const measured: Measured[] = [];
    for (const subject of [direct, relay, toolgate]) {
      await reader.ask({ requests: asks(subject, WARM_UPS, "3 tokens at 0"), concurrency: 1 });
      const requests = asks(subject, FIRST_TOKEN_ROUNDS, "3 tokens at 0");
      const result = await reader.ask({ requests, concurrency: 1 });
      log(`first token: ${subject.name} p50 ${result.first.p50Ms.toFixed(2)} ms`);
      measured.push({ name: subject.name, result });
    }
    return measured;
  }

  async function resumes() {
    const chat = chats++;
    const message = `${RESUMED_TOKENS} tokens at ${RESUMED_PER_SECOND}`;
    await reader.ask({ requests: [toolgate.ask(chat, message)], concurrency: 1 });
    const { rows } = await installation.servers.pool.query(
      "select last_event_id::int as events from chat.chat where chat_id = $1",
      [`bench-${chat}`],
    );
    const requests = Array.from({ length: RESUMES }, () => toolgate.resume(chat));
    const { took, failures } = await reader.ask({ requests, concurrency: 1 });
    log(`resume of ${rows[0].events} events: p99 ${took.p99Ms.toFixed(1)} ms ${JSON.stringify(failures)}`);
    return { events: rows[0].events as number, took };
  }

  async function streaming(subject: Subject) {
    using meter = startMeter({ ...subject.groups, reader: { pids: [reader.pid], take: "these" } });
    const requests = asks(subject, ANSWERS, `${TOKENS} tokens at ${TOKENS_PER_SECOND}`);
    const result = await reader.ask({ requests, concurrency: ANSWERS });
    const usage = meter.stop();
    log(
      `streaming: ${subject.name} token p50 ${result.tokens.p50Ms.toFixed(1)} p99 ${result.tokens.p99Ms.toFixed(1)} ms`,
    );
    return { name: subject.name, result, usage, wantedTokens: ANSWERS * TOKENS };
  }

  async function idle(subject: Subject) {
    using meter = startMeter(subject.groups);
    const answers = subject === toolgate ? IDLE_ANSWERS : IDLE_STREAMS;
    const first = chats;
    const started = { requests: asks(subject, answers, IDLE_MESSAGE), concurrency: OPENED_AT_ONCE, hold: true };
    let result = await reader.ask(started);
    if (subject === toolgate) {
      const count = IDLE_STREAMS - IDLE_ANSWERS;
      const requests = Array.from({ length: count }, (_, index) => toolgate.resume(first + (index % IDLE_ANSWERS)));
      result = await reader.ask({ requests, concurrency: OPENED_AT_ONCE, hold: true });
      result.streams += IDLE_ANSWERS;
    }
    await sleep(IDLE_MS, undefined, { signal });
    const usage = meter.stop();
    log(`idle: ${subject.name} ${result.streams} streams ${JSON.stringify(result.failures)}`);
    await reader.ask({ letGo: true });
    if (subject === toolgate) {
      const stops = Array.from({ length: IDLE_ANSWERS }, (_, index) => toolgate.stop(first + index));
      await reader.ask({ requests: stops, concurrency: OPENED_AT_ONCE });
    }
    return { name: subject.name, result, usage };
  }

  // First, so that the memory is that of these streams.
  const idleStreams = [await idle(relay), await idle(toolgate)];
  const firstToken = await firstTokens();
  const resume = await resumes();
  return { firstToken, resume, streaming: [await streaming(relay), await streaming(toolgate)], idle: idleStreams };
}
