import type { Home } from "./isolate-homes.ts";
import { charsOf, type FailureKind, type FromChild, MAX_MESSAGE_CHARS, type RunLimits } from "./protocol.ts";

export const MESSAGE_CHARS = 2_000;
/** A UTF-16 unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_CHAR = 3;

export type ChildRun = { home: Home; limits: RunLimits; cpuMs: number };

/** The runs that a child has begun, each reported as ended once. */
export type ChildRunBook = {
  readonly runs: Map<number, ChildRun>;
  close: (ticket: number, run: ChildRun) => void;
  fail: (ticket: number, run: ChildRun, kind: FailureKind, message: string, stack?: string) => void;
  lose: (tickets: readonly number[]) => void;
  /** Hands on what an isolate reports: for the run that was entered and for no other, whatever it claims. */
  pass: (ticket: number, run: ChildRun, reports: unknown[]) => void;
};

export function createChildRunBook(report: (message: FromChild) => void): ChildRunBook {
  const runs = new Map<number, ChildRun>();

  const close = (ticket: number, run: ChildRun) => {
    runs.delete(ticket);
    run.home.tickets.delete(ticket);
  };

  const fail = (ticket: number, run: ChildRun, kind: FailureKind, message: string, stack = "") => {
    close(ticket, run);
    report(["fail", ticket, kind, message.slice(0, MESSAGE_CHARS), stack, run.cpuMs]);
  };

  const lose = (tickets: readonly number[]) => {
    for (const ticket of tickets) if (runs.delete(ticket)) report(["lost", ticket]);
  };

  const pass = (ticket: number, run: ChildRun, reports: unknown[]) => {
    for (const reported of reports as [string, number, ...unknown[]][]) {
      const [kind, from, ...rest] = reported;
      if (from !== ticket || runs.get(ticket) !== run) continue;
      if (charsOf(reported) > MAX_MESSAGE_CHARS)
        fail(ticket, run, "memory", "The tool sent more than its memory holds");
      else if (kind === "call") report(["call", ticket, rest[0] as number, rest[1] as string, rest[2] as string]);
      else if (kind === "log") report(["log", ticket, rest[0] as string]);
      else if (kind === "fail") fail(ticket, run, rest[0] as FailureKind, rest[1] as string, rest[2] as string);
      else if (fits(rest[0] as string, run.limits.resultBytes)) {
        close(ticket, run);
        report(["ok", ticket, rest[0] as string, run.cpuMs]);
      } else fail(ticket, run, "result-too-large", "The result is too large");
    }
  };
  return { runs, close, fail, lose, pass };
}

function fits(json: string, bytes: number): boolean {
  return json.length * MAX_BYTES_PER_CHAR <= bytes || Buffer.byteLength(json) <= bytes;
}
