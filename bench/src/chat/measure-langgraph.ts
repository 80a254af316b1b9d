import { setTimeout as sleep } from "node:timers/promises";
import { installLangGraph, startLangGraph } from "./langgraph-subject.ts";
import { ANSWERS, type ChatRows, type chatMeasures, RESUMED_TOKENS } from "./measures.ts";
import type { ResumableSubject } from "./subjects.ts";

/** Few, because the server ends each stream half a second late. */
const ROUNDS = 40;
/** Each runs one answer at a time. */
const WORKERS = 320;
/** As many as it can keep up with, and as many as the others have. */
const AT_ONCE = [50, ANSWERS];

/** Of one figure: a busy machine leaves too little for the timers of its many streams. */
const WITHIN_MS = 120_000;

type Control = { modelPort: number; signal: AbortSignal; log: (line: string) => void };

/** Returns why some of it could not be measured, if so: a peer's failure is not one of the benchmark. */
export async function addLangGraph(
  rows: ChatRows,
  measures: ReturnType<typeof chatMeasures>,
  { modelPort, signal, log }: Control,
): Promise<string | undefined> {
  const missing = await installLangGraph({ signal, log });
  if (missing !== undefined) return missing;
  async function inOwnServer<T>(measure: (subject: ResumableSubject) => Promise<T>): Promise<T> {
    await using server = await startLangGraph(modelPort, WORKERS, signal);
    const late = sleep(WITHIN_MS, undefined, { ref: false, signal }).then(() => {
      throw new Error("it takes too long");
    });
    return await Promise.race([measure(server.subject), late]);
  }
  try {
    rows.firstToken.push(await inOwnServer((subject) => measures.firstToken(subject, ROUNDS)));
    const message = `${RESUMED_TOKENS} tokens at 0`;
    rows.resume.push(await inOwnServer((subject) => measures.resume(subject, message, ROUNDS)));
    for (const answers of AT_ONCE) {
      rows.streaming.push(await inOwnServer((subject) => measures.streaming(subject, answers)));
    }
    rows.idle.push(await inOwnServer(measures.idle));
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    log(`LangGraph's server: ${(error as Error).stack}`);
    return "its server failed";
  }
}
