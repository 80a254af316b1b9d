import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A process of the benchmark itself: it says when it is ready, and then answers one question at a time. */
export type BenchProcess<Ready, Question, Answer> = AsyncDisposable & {
  readonly pid: number;
  readonly ready: Ready;
  ask(question: Question): Promise<Answer>;
};

const END_WITHIN_MS = 3_000;

type BenchProcessOptions = {
  /** Handed to the process, as JSON. */
  argument?: unknown;
  /** Ends the wait for an answer. */
  signal: AbortSignal;
};

/**
 * Starts `entry`. It has its own process group, so that Ctrl-C reaches only its parent, and ends when its
 * parent does.
 */
export async function startBenchProcess<Ready, Question = never, Answer = never>(
  entry: URL,
  { argument = {}, signal }: BenchProcessOptions,
): Promise<BenchProcess<Ready, Question, Answer>> {
  const child = fork(fileURLToPath(entry), [JSON.stringify(argument)], { detached: true, execArgv: [] });
  const failed = once(child, "exit").then(([code, signal]) => {
    throw new Error(`${entry.pathname.split("/").at(-1)} ended early (${signal ?? `exit code ${code}`})`);
  });
  failed.catch(() => {});
  const next = async <T>() => (await Promise.race([once(child, "message", { signal }), failed]))[0] as T;
  const ready = await next<Ready>();
  return {
    pid: child.pid ?? 0,
    ready,
    async ask(question) {
      const answer = next<Answer>();
      answer.catch(() => {});
      child.send(question as object);
      return answer;
    },
    [Symbol.asyncDispose]: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  if (child.connected) child.disconnect();
  const killer = setTimeout(() => child.kill("SIGKILL"), END_WITHIN_MS);
  await exited;
  clearTimeout(killer);
}

/** The other end of `startBenchProcess`: the argument, and the loop of questions and answers. */
export function childArgument<T>(): T {
  return JSON.parse(process.argv[2] ?? "{}") as T;
}

export function answerParent<Question, Answer>(ready: object, answer: (question: Question) => Promise<Answer>): void {
  process.on("message", (question) => {
    answer(question as Question).then(
      (value) => process.send?.(value as object),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
  process.on("disconnect", () => process.exit());
  process.send?.(ready);
}

/** Milliseconds of a clock that all processes on this machine share and that is never adjusted. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
