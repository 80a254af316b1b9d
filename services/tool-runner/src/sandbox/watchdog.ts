import { readFileSync } from "node:fs";
import type { PoolLimits } from "./limits.ts";
import type { SandboxChild } from "./sandbox-child.ts";

const PAGES_PER_MIB = 256;

/**
 * Looks at one child from outside: notes its progress in the ledger, marks it as stalled, and kills it when one entry
 * takes longer than any honest one can, or when its memory outgrows its bound.
 */
export function watchChild(child: SandboxChild, limits: PoolLimits, now: number): void {
  const oldest = child.entries[0];
  if (oldest === undefined || child.ended || !child.ready) return;
  const current = child.ledger.current();
  if (current !== child.lastLedger) {
    child.lastLedger = current;
    child.progressAt = now;
    child.stalled = false;
  }
  const stuckMs = now - child.progressAt;
  child.stalled = stuckMs >= limits.stallMs;
  if (!child.stalled || child.verdict !== undefined) return;
  const entered = child.entries.find((entry) => entry.seq === current);
  const allowedMs = (entered?.run.request.limits.cpuMs ?? 0) + limits.killGraceMs;
  if (stuckMs >= allowedMs) child.verdict = entered === undefined ? "unresponsive" : "cpu";
  else if (residentMib(child.pid) > limits.childRssMib) child.verdict = "memory";
  if (child.verdict !== undefined) child.kill();
}

/** Resident memory as the kernel tells it; 0 where there is no /proc, and the engine's own limit stands alone. */
function residentMib(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "ascii").split(" ")[1]) / PAGES_PER_MIB;
  } catch {
    return 0;
  }
}

/**
 * Takes back from a stalled child what it has not begun. The entries that are certainly not begun are returned; a
 * start that was begun in the same moment either runs or comes back as `skipped`.
 */
export function takeBack(child: SandboxChild): number[] {
  const last = child.entries.at(-1)?.seq ?? 0;
  child.ledger.recall(child.ledger.current() + 1, last);
  const begun = child.ledger.current();
  const tickets: number[] = [];
  for (const entry of child.entries) {
    if (!entry.isStart || entry.recalled || entry.seq <= begun) continue;
    entry.recalled = true;
    tickets.push(entry.seq);
  }
  return tickets;
}
