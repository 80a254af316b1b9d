import { LRUCache } from "lru-cache";
import { LANE_NAMES, LANES, type LaneName } from "../lanes.ts";
import type { PoolLimits } from "../limits.ts";
import type { SandboxLog } from "../request.ts";
import type { AssignedRuns } from "./assigned-runs.ts";
import type { Child } from "./child.ts";
import type { Children } from "./children.ts";
import type { CpuUsage } from "./cpu-usage.ts";
import type { SandboxRun } from "./run.ts";
import { WaitingRuns } from "./waiting-runs.ts";

/** Starts that may be on their way to a child; more would only wait there instead of here. */
const MAX_UNBEGUN = 64;
/** CPU time of the starts on their way to a child; a run that comes next waits at most about this long for them. */
const MAX_UNBEGUN_MS = 10;
/** A tool stays with the child that has it warm until this many starts wait there. */
const MAX_UNBEGUN_BEFORE_SPREADING = 8;
/**
 * Tools with runs in one child at the same time. Below its bound on isolates, because some of those may be about to
 * end.
 */
const MAX_TOOLS_PER_CHILD = 96;
const MAX_REMEMBERED_WORKSPACES = 100_000;
/** After this long a workspace that has a child to itself gets no new starts there while others wait for one. */
const TURN_MS = 2_000;

/**
 * Decides which run goes to which child, and when: the lane by what is known about the code and its workspace, then one
 * run of each workspace in turn, the workspace that has used least CPU time first, to the child that has its tool warm if
 * possible.
 */
export class Placement {
  readonly #waiting = waitingByLane();
  /** Lanes in which a workspace waits for a child of its own. */
  readonly #contended = new Set<LaneName>();
  readonly #slow: LRUCache<string, true>;
  readonly #apart: LRUCache<string, true>;
  readonly #usage: CpuUsage;
  readonly #now: () => number;
  readonly #log: SandboxLog;

  constructor(usage: CpuUsage, now: () => number, { apartMs }: Pick<PoolLimits, "apartMs">, log: SandboxLog) {
    const clock = { ttlResolution: 0, perf: { now } };
    this.#usage = usage;
    this.#now = now;
    this.#log = log;
    this.#slow = new LRUCache({ max: MAX_REMEMBERED_WORKSPACES, ...clock });
    this.#apart = new LRUCache({ max: MAX_REMEMBERED_WORKSPACES, ...clock, ttl: apartMs });
  }

  /** Its workspace's runs go to the slow lane for a while. The reason is a limit that it exceeded, if any. */
  slowDown(run: SandboxRun, forMs: number, reason?: string): void {
    const { codeKey, workspaceId } = run.request;
    const leftMs = this.#slow.getRemainingTTL(workspaceId);
    // Once for each stay there, or a tool that fails many times a second would fill the log.
    if (reason !== undefined && leftMs <= 0) {
      run.inRequest(() => this.#log.warn({ workspaceId, codeKey, reason }, "workspace moved to the slow lane"));
    }
    if (forMs > leftMs) this.#slow.set(workspaceId, true, { ttl: forMs });
    if (leftMs <= 0) this.#sortAgain(workspaceId);
  }

  /** Its workspace's runs share no child with others for a day. */
  quarantine(run: SandboxRun, reason: string): void {
    const { codeKey, workspaceId } = run.request;
    run.inRequest(() => this.#log.warn({ workspaceId, codeKey, reason }, "code harmed a sandbox child"));
    this.#apart.set(workspaceId, true);
    this.#sortAgain(workspaceId);
  }

  laneOf({ request: { workspaceId, standing } }: SandboxRun): LaneName {
    if (standing === "apart" || this.#apart.has(workspaceId)) return "apart";
    if (standing === "new") return "new";
    return this.#slow.has(workspaceId) ? "slow" : "ordinary";
  }

  add(run: SandboxRun): void {
    this.#queueOf(run).add(run);
  }

  /** Adds a run that had been placed already. */
  addFirst(run: SandboxRun): void {
    this.#queueOf(run).addFirst(run);
  }

  /** Places as many waiting runs as the children have room for. */
  place(children: Children, start: (run: SandboxRun, child: Child) => void): void {
    for (const lane of LANE_NAMES) {
      if (this.#waiting[lane].isEmpty) continue;
      if (this.#serve(lane, children, start) && children.grow(lane)) this.#serve(lane, children, start);
    }
  }

  /** Returns whether runs are left for which another child would be of use. */
  #serve(lane: LaneName, children: Children, start: (run: SandboxRun, child: Child) => void): boolean {
    const all = children.of(lane);
    const { exclusive } = LANES[lane];
    const accept = (run: SandboxRun): boolean => {
      const child = exclusive ? this.#ownChild(lane, all, run) : chooseChild(all, run);
      if (child === undefined) return false;
      start(run, child);
      children.used(child);
      return true;
    };
    const left = this.#waiting[lane].offer(this.#usage.compare, accept);
    if (!exclusive) return left.length > 0;
    const isContended = left.some((run) => holderOf(all, run) === undefined);
    if (isContended) this.#contended.add(lane);
    else this.#contended.delete(lane);
    return isContended;
  }

  /** The child that only the run's workspace uses, or one that nobody uses. */
  #ownChild(lane: LaneName, children: readonly Child[], run: SandboxRun): Child | undefined {
    const held = holderOf(children, run);
    if (held === undefined) return children.find((child) => child.assigned.size === 0 && hasRoom(child, run));
    const mustYield = this.#contended.has(lane) && this.#now() - held.heldSince >= TURN_MS;
    return hasRoom(held, run) && !mustYield ? held : undefined;
  }

  /** Puts the workspace's waiting runs into the lanes where they belong now. */
  #sortAgain(workspaceId: string): void {
    for (const run of LANE_NAMES.flatMap((lane) => this.#waiting[lane].take(workspaceId)))
      if (run.state === "waiting") this.add(run);
  }

  #queueOf(run: SandboxRun): WaitingRuns {
    return this.#waiting[this.laneOf(run)];
  }
}

function waitingByLane(): Readonly<Record<LaneName, WaitingRuns>> {
  return { ordinary: new WaitingRuns(), slow: new WaitingRuns(), new: new WaitingRuns(), apart: new WaitingRuns() };
}

function holderOf(children: readonly Child[], { request: { workspaceId } }: SandboxRun): Child | undefined {
  return children.find(({ assigned }) => assigned.runsOfWorkspace.of(workspaceId) > 0);
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
  return (
    child.ready && !child.stalled && !child.draining && child.unbegun < MAX_UNBEGUN && child.unbegunMs < MAX_UNBEGUN_MS
  );
}

function hasRoom(child: Child, run: SandboxRun): boolean {
  return takesStarts(child) && hasIsolateFor(child.assigned, run);
}

/** Whether the child has an isolate for the run, or may open one within the workspace's share. */
export function hasIsolateFor(assigned: AssignedRuns, { request: { codeKey, workspaceId } }: SandboxRun): boolean {
  if (assigned.refusedTools.has(codeKey)) return false;
  if (assigned.runsOfTool.of(codeKey) > 0) return true;
  if (assigned.refusedTools.size > 0) return false;
  return hasShareLeft(assigned.toolsOfWorkspace.of(workspaceId), assigned.runsOfTool.size, MAX_TOOLS_PER_CHILD);
}

/**
 * Whether a workspace that has `mine` of the `taken` places may take another: only while it has fewer than are free.
 * If all workspaces take as much as they can get, each gets the same share, and one more share stays free.
 */
export function hasShareLeft(mine: number, taken: number, places: number): boolean {
  return mine < places - taken;
}
