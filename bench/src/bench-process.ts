import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A process of the benchmark itself: it says when it is ready, and then replies to one request at a time. */
export type BenchProcess<Ready, Request, Reply> = AsyncDisposable & {
  readonly pid: number;
  readonly ready: Ready;
  ask(request: Request): Promise<Reply>;
};

const END_WITHIN_MS = 3_000;

type BenchProcessOptions = {
  /** Handed to the process, as JSON. */
  argument?: unknown;
  /** Ends the wait for a reply. */
  signal: AbortSignal;
};

/**
 * Starts `entry`. It has its own process group, so that Ctrl-C reaches only its parent, and ends when its
 * parent does.
 */
export async function startBenchProcess<Ready, Request = never, Reply = never>(
  entry: URL,
  { argument = {}, signal }: BenchProcessOptions,
): Promise<BenchProcess<Ready, Request, Reply>> {
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
    async ask(request) {
      const reply = next<Reply>();
      reply.catch(() => {});
      child.send(request as object);
      return reply;
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

/** The other end of `startBenchProcess`: the argument, and the loop of requests and replies. */
export function childArgument<T>(): T {
  return JSON.parse(process.argv[2] ?? "{}") as T;
}

export function replyToParent<Request, Reply>(ready: object, reply: (request: Request) => Promise<Reply>): void {
  process.on("message", (request) => {
    reply(request as Request).then(
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
