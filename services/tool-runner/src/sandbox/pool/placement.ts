import { LRUCache } from "lru-cache";
import type { SandboxLog } from "../request.ts";
import type { AssignedRuns } from "./assigned-runs.ts";
import type { Child } from "./child.ts";
import type { Children } from "./children.ts";
import type { SandboxRun } from "./run.ts";

/** Starts that may be on their way to a child; more would only wait there instead of here. */
const MAX_UNBEGUN = 64;
/** A tool stays with the child that has it warm until this many starts wait there. */
const MAX_UNBEGUN_BEFORE_SPREADING = 8;
/**
 * Tools with runs in one child at the same time. Below its bound on isolates, because some of those may be about to
 * end.
 */
const MAX_TOOLS_PER_CHILD = 96;
const MAX_QUARANTINED = 10_000;

/** The waiting runs of each workspace. A workspace that has had its turn goes to the end of the map. */
type Queues = Map<string, SandboxRun[]>;

/**
 * Decides which run goes to which child, and when: one run of each workspace in turn, to the child that has its tool
 * warm if possible. Code that has exceeded a limit runs in the quarantine child for a while.
 */
export class Placement {
  readonly #ordinary: Queues = new Map();
  readonly #suspect: Queues = new Map();
  readonly #quarantined: LRUCache<string, true>;
  readonly #log: SandboxLog;

  constructor(now: () => number, quarantineMs: number, log: SandboxLog) {
    this.#log = log;
    this.#quarantined = new LRUCache({ max: MAX_QUARANTINED, ttl: quarantineMs, ttlResolution: 0, perf: { now } });
  }

  /** Keeps the code of a run that exceeded a limit away from the code of others. */
  quarantine(run: SandboxRun, reason: string): void {
    const { codeKey } = run.request;
    run.inRequest(() => this.#log.warn({ codeKey, reason }, "tool version put in quarantine"));
    this.#quarantined.set(codeKey, true);
  }

  /** Whether runs wait for the quarantine child. */
  get needsQuarantine(): boolean {
    return this.#suspect.size > 0;
  }

  add(run: SandboxRun): void {
    this.#queueOf(run).push(run);
  }

  /** Adds a run that had been placed already. */
  addFirst(run: SandboxRun): void {
    this.#queueOf(run).unshift(run);
  }

  /** Places as many waiting runs as the children have room for. */
  place({ workers, quarantine }: Children, start: (run: SandboxRun, child: Child) => void): void {
    serve(this.#ordinary, workers, start);
    if (quarantine !== undefined) serve(this.#suspect, [quarantine], start);
  }

  #queueOf({ request: { codeKey, workspaceId } }: SandboxRun): SandboxRun[] {
    const queues = this.#quarantined.has(codeKey) ? this.#suspect : this.#ordinary;
    const known = queues.get(workspaceId);
    if (known !== undefined) return known;
    const queue: SandboxRun[] = [];
    queues.set(workspaceId, queue);
    return queue;
  }
}

/** One run of each workspace in turn; a workspace whose next run finds no room does not delay the others. */
function serve(queues: Queues, children: readonly Child[], start: (run: SandboxRun, child: Child) => void): void {
  if (queues.size === 0 || !children.some(takesStarts)) return;
  const blocked: [string, SandboxRun[]][] = [];
  for (let [next] = queues; next !== undefined; [next] = queues) {
    const [workspaceId, queue] = next;
    queues.delete(workspaceId);
    while (queue[0]?.state === "ended") queue.shift();
    const [run] = queue;
    if (run === undefined) continue;
    const child = chooseChild(children, run);
    if (child === undefined) {
      blocked.push(next);
      continue;
    }
    queue.shift();
    start(run, child);
    queues.set(workspaceId, queue);
  }
  for (const [workspaceId, queue] of blocked) queues.set(workspaceId, queue);
}

function chooseChild(children: readonly Child[], run: SandboxRun): Child | undefined {
  const warm = children[hash(run.request.codeKey) % children.length];
  if (warm !== undefined && hasRoom(warm, run) && warm.unbegun < MAX_UNBEGUN_BEFORE_SPREADING) return warm;
  let best: Child | undefined;
  for (const child of children) {
    if (hasRoom(child, run) && child.unbegun < (best?.unbegun ?? Number.POSITIVE_INFINITY)) best = child;
  }
  return best;
}

function hash(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) >>> 0;
  return sum;
}

function takesStarts(child: Child): boolean {
  return child.ready && !child.stalled && child.unbegun < MAX_UNBEGUN;
}

function hasRoom(child: Child, run: SandboxRun): boolean {
  return takesStarts(child) && hasIsolateFor(child.assigned, run);
}

/** Whether the child has an isolate for the run, or may open one within the workspace's share. */
export function hasIsolateFor(assigned: AssignedRuns, { request: { codeKey, workspaceId } }: SandboxRun): boolean {
  if (assigned.refusedTools.has(codeKey)) return false;
  if (assigned.runsOfTool.of(codeKey) > 0) return true;
  if (assigned.refusedTools.size > 0) return false;
  return mayTakeOne(assigned.toolsOfWorkspace.of(workspaceId), assigned.runsOfTool.size, MAX_TOOLS_PER_CHILD);
}

/**
 * Whether a workspace that has `mine` of the `taken` places may take another: only while it has fewer than are free.
 * If all workspaces take as much as they can get, each gets the same share, and one more share stays free.
 */
export function mayTakeOne(mine: number, taken: number, places: number): boolean {
  return mine < places - taken;
}
