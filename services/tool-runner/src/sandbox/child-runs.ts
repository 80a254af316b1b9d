import { type ChildRun, createChildRunBook, MESSAGE_CHARS } from "./child-run-book.ts";
import type { GuestEntries } from "./guest/guest-entries.ts";
import type { EntryOutcome } from "./guest-isolate.ts";
import type { Home, IsolateHomes } from "./isolate-homes.ts";
import type { ChildLedger } from "./ledger.ts";
import type { FromChild, StartMessage, ToChild } from "./protocol.ts";

type EntryArgs = readonly (string | number | boolean)[];

/** The child's side of every run: enters isolates one at a time and reports what came of it. */
export type ChildRuns = {
  handle: (message: ToChild) => void;
};

export function createChildRuns(
  homes: IsolateHomes,
  ledger: ChildLedger,
  report: (message: FromChild) => void,
  finished: (seq: number) => void,
): ChildRuns {
  const { runs, fail, close, lose, pass } = createChildRunBook(report);

  const enter = (ticket: number, run: ChildRun, name: keyof GuestEntries, args: EntryArgs) => {
    const { home } = run;
    const before = home.guest.cpuMs();
    const leftMs = Math.max(1, Math.ceil(run.limits.cpuMs - run.cpuMs));
    let outcome: EntryOutcome = home.guest.enter(name, args, leftMs);
    if (outcome !== "memory") run.cpuMs += home.guest.cpuMs() - before;
    try {
      if (outcome !== "memory") pass(ticket, run, home.guest.drain());
    } catch {
      outcome = home.guest.isDead() ? "memory" : "cpu";
    }
    if (outcome === "done") homes.afterEntry(home);
    else {
      // A job queue that was cut off has lost the other runs' steps too, so the isolate ends with this run.
      if (runs.get(ticket) === run) fail(ticket, run, outcome, `The tool used up its ${outcome} limit`);
      lose(homes.destroy(home));
    }
  };

  const start = ([, seq, keyId, argsJson, readOnly, testMode, limits]: StartMessage) => {
    if (ledger.isRecalled(seq)) {
      report(["skipped", seq]);
      return;
    }
    let home: Home | undefined;
    try {
      home = homes.forNewRun(keyId);
    } catch (error) {
      report(["fail", seq, "threw", String(error).slice(0, MESSAGE_CHARS), "", 0]);
      return;
    }
    if (home === undefined) {
      report(["full", seq]);
      return;
    }
    const run = { home, limits, cpuMs: 0 };
    runs.set(seq, run);
    home.tickets.add(seq);
    const { resultBytes, hostCalls, hostCallsAtOnce, hostCallBytes, logLines } = limits;
    const bounds = [resultBytes, hostCalls, hostCallsAtOnce, hostCallBytes, logLines];
    enter(seq, run, "start", [seq, argsJson, readOnly, testMode, ...bounds]);
  };

  const answer = (ticket: number, name: "resolve" | "reject", args: EntryArgs) => {
    const run = runs.get(ticket);
    if (run !== undefined) enter(ticket, run, name, [ticket, ...args]);
  };

  const abandon = (ticket: number) => {
    const run = runs.get(ticket);
    if (run === undefined) return;
    run.home.guest.enter("abandon", [ticket], run.limits.cpuMs);
    close(ticket, run);
    report(["lost", ticket]);
    homes.afterEntry(run.home);
  };

  const handle = (message: ToChild) => {
    switch (message[0]) {
      case "define":
        return homes.define(message[1], message[2]);
      case "forget":
        return homes.forget(message[1]);
      case "abandon":
        return abandon(message[1]);
      case "start":
        ledger.begin(message[1]);
        start(message);
        return finished(message[1]);
      case "answer":
        ledger.begin(message[1]);
        answer(message[2], "resolve", [message[3], message[4]]);
        return finished(message[1]);
      case "refuse":
        ledger.begin(message[1]);
        answer(message[2], "reject", [message[3], message[4], message[5], message[6]]);
        return finished(message[1]);
    }
  };
  return { handle };
}
