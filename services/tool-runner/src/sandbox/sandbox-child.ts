import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { ActiveRun } from "./active-run.ts";
import { createCodeBook } from "./code-book.ts";
import { createFrameWriter } from "./frame-writer.ts";
import { openPoolLedger, type PoolLedger } from "./ledger.ts";
import { type ChildFrame, createFrameReader, type FromChild, type RunLimits } from "./protocol.ts";
import { createRunsInHand, type RunsInHand } from "./runs-in-hand.ts";
import { spawnChild } from "./spawn-child.ts";

const STDERR_CHARS = 2_000;

/** An entry into an isolate that the child has not reported as finished, and how long the answer is that it brings. */
export type Entry = { seq: number; run: ActiveRun; isStart: boolean; answerChars: number; recalled: boolean };

export type ChildEnd = { signal: NodeJS.Signals | null; code: number | null; stderr: string };

/** One child process as the pool sees it. */
export type SandboxChild = AsyncDisposable & {
  readonly pid: number | undefined;
  readonly runs: RunsInHand;
  readonly entries: Entry[];
  readonly ledger: PoolLedger;
  ready: boolean;
  stalled: boolean;
  ended: boolean;
  /** Why the pool killed it, if it did. */
  verdict: "cpu" | "memory" | "unresponsive" | undefined;
  progressAt: number;
  lastLedger: number;
  unbegun: number;
  start: (run: ActiveRun, limits: Omit<RunLimits, "cpuMs" | "resultBytes">) => void;
  answer: (run: ActiveRun, callId: number, json: string) => void;
  refuse: (run: ActiveRun, callId: number, message: string, name: string, code: string) => void;
  abandon: (ticket: number) => void;
  kill: () => void;
};

export type ChildEvents = {
  onMessage: (child: SandboxChild, message: FromChild) => void;
  onProgress: (child: SandboxChild) => void;
  onEnd: (child: SandboxChild, end: ChildEnd) => void;
};

export function startSandboxChild(events: ChildEvents, now: () => number): SandboxChild {
  const ledger = openPoolLedger();
  const process = spawnChild(ledger.fd);
  let seq = 0;
  const send = createFrameWriter(process.stdin as Writable, () => {
    child.progressAt = now();
  });
  const enter = (run: ActiveRun, isStart: boolean, answerChars = 0): number => {
    seq += 1;
    if (child.entries.length === 0) child.progressAt = now();
    child.entries.push({ seq, run, isStart, answerChars, recalled: false });
    run.answers.sent(answerChars);
    return seq;
  };
  const codes = createCodeBook(send);

  const child: SandboxChild = {
    pid: process.pid,
    runs: createRunsInHand(),
    entries: [],
    ledger,
    ready: false,
    stalled: false,
    ended: false,
    verdict: undefined,
    progressAt: now(),
    lastLedger: 0,
    unbegun: 0,
    start: (run, shared) => {
      const { key, code, argsJson, context, limits } = run.request;
      const keyId = codes.idOf(key, code);
      const ticket = enter(run, true);
      child.unbegun += 1;
      run.child = child;
      run.ticket = ticket;
      child.runs.add(ticket, run);
      const bounds = { cpuMs: limits.cpuMs, resultBytes: limits.resultBytes, ...shared };
      send(["start", ticket, keyId, argsJson, context.readOnly, context.testMode, bounds]);
    },
    answer: (run, callId, json) => send(["answer", enter(run, false, json.length), run.ticket, callId, json]),
    refuse: (run, callId, message, name, code) =>
      send(["refuse", enter(run, false), run.ticket, callId, message, name, code]),
    abandon: (ticket) => send(["abandon", ticket]),
    kill: () => void process.kill("SIGKILL"),
    [Symbol.asyncDispose]: async () => {
      process.kill("SIGKILL");
      if (!child.ended) await new Promise((resolve) => process.once("close", resolve));
    },
  };

  listen(child, process, events, now);
  return child;
}

function listen(child: SandboxChild, process: ChildProcess, events: ChildEvents, now: () => number): void {
  const [input, output, errors] = process.stdio as unknown as [Writable, Readable, Readable];
  let stderr = "";
  const receive = (frame: ChildFrame) => {
    child.ready = true;
    child.stalled = false;
    child.progressAt = now();
    let finished = 0;
    for (const { seq, run, isStart, answerChars } of child.entries) {
      if (seq > frame.done) break;
      if (isStart) child.unbegun -= 1;
      run.answers.taken(answerChars);
      finished += 1;
    }
    child.entries.splice(0, finished);
    for (const message of frame.messages) events.onMessage(child, message);
    events.onProgress(child);
  };
  const readFrames = createFrameReader();
  output.on("data", (chunk: Buffer) => {
    try {
      for (const frame of readFrames(chunk)) receive(frame as ChildFrame);
    } catch {
      child.verdict = "unresponsive";
      child.kill();
    }
  });
  errors.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-STDERR_CHARS);
  });
  input.on("error", () => {});
  process.on("error", () => {});
  process.on("close", (code, signal) => {
    child.ended = true;
    child.ready = false;
    events.onEnd(child, { code, signal, stderr });
    child.ledger[Symbol.dispose]();
  });
}
