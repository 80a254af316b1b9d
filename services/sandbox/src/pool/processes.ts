import { outsideRequest } from "@toolgate/telemetry/request";
import type { Child } from "./child.ts";
import type { SandboxRun } from "./run.ts";

const SPARES = 2;
/** A process that ended before it was up is started again after this long. */
const RESPAWN_MS = 500;
/** A child that is not up after this long is started again. */
const START_MS = 60_000;
/** A process without runs ends after this long. */
const IDLE_MS = 300_000;
const LOOK_EVERY_MS = 30_000;

/** The process or processes of each workspace, and started ones that no workspace has yet. */
export class Processes implements AsyncDisposable {
  readonly #max: number;
  readonly #start: () => Child;
  readonly #now: () => number;
  readonly #spares = new Set<Child>();
  readonly #ofWorkspaces = new Map<string, Child[]>();
  /** They get no more runs, and end when they have none. */
  readonly #leaving = new Set<Child>();
  readonly #timer: NodeJS.Timeout;
  #pause: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** At most `max` processes belong to workspaces. */
  constructor(max: number, start: () => Child, now: () => number) {
    this.#max = max;
    this.#start = start;
    this.#now = now;
    this.#fill();
    this.#timer = outsideRequest(() => setInterval(() => this.#endIdle(), LOOK_EVERY_MS)).unref();
  }

  all(): Child[] {
    return [...this.#spares, ...[...this.#ofWorkspaces.values()].flat(), ...this.#leaving];
  }

  of(workspaceId: string): readonly Child[] {
    return this.#ofWorkspaces.get(workspaceId) ?? [];
  }

  /**
   * Gives a workspace one more process, unless it has as many as are free: those that nobody has, and those without runs,
   * of which the one that has rested longest ends. So no number of its runs keeps another workspace from getting one.
   */
  take(workspaceId: string): Child | undefined {
    const mine = this.of(workspaceId);
    const others = [...this.#ofWorkspaces.values()].flat().filter((child) => child.workspaceId !== workspaceId);
    const idle = others.filter(({ runs }) => runs.size === 0);
    const taken = mine.length + others.length;
    if (mine.length >= this.#max - taken + idle.length) return undefined;
    const spares = [...this.#spares];
    const child = spares.find(({ ready }) => ready) ?? spares[0];
    if (child === undefined) return undefined;
    const [longestIdle] = idle.toSorted((a, b) => a.idleSince - b.idleSince);
    if (taken >= this.#max && longestIdle !== undefined) this.#retire(longestIdle);
    this.#spares.delete(child);
    child.workspaceId = workspaceId;
    this.#ofWorkspaces.set(workspaceId, [...mine, child]);
    this.#fill();
    return child;
  }

  /** The first of those of a workspace that has fewest steps to carry out. */
  leastBusy(workspaceId: string, run: SandboxRun, stallMs: number): Child | undefined {
    let best: Child | undefined;
    for (const child of this.of(workspaceId)) {
      if (child.isStalled(stallMs) || !child.hasRoomFor(run)) continue;
      if (best === undefined || child.load < best.load) best = child;
    }
    return best;
  }

  /** Its process is about to be stopped. */
  leave(child: Child): void {
    this.remove(child);
    this.#leaving.add(child);
    this.endLeaving();
  }

  endLeaving(): void {
    for (const child of this.#leaving) if (child.runs.size === 0) this.#retire(child);
  }

  /** Forgets one that has ended, or that is to. */
  remove(child: Child): void {
    this.#leaving.delete(child);
    if (child.workspaceId !== undefined) {
      const others = this.of(child.workspaceId).filter((other) => other !== child);
      if (others.length > 0) this.#ofWorkspaces.set(child.workspaceId, others);
      else this.#ofWorkspaces.delete(child.workspaceId);
    }
    this.#spares.delete(child);
    if (child.ready) this.#fill();
    else this.#fillLater();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#pause);
    clearInterval(this.#timer);
    await Promise.all(this.all().map((child) => child[Symbol.asyncDispose]()));
  }

  #retire(child: Child): void {
    this.remove(child);
    void child[Symbol.asyncDispose]();
  }

  #endIdle(): void {
    for (const child of [...this.#ofWorkspaces.values()].flat()) {
      if (child.runs.size === 0 && this.#now() - child.idleSince >= IDLE_MS) this.#retire(child);
    }
  }

  #fill(): void {
    if (this.#pause !== undefined) return;
    try {
      while (!this.#isClosed && this.#spares.size < SPARES) this.#spares.add(outsideRequest(() => this.#spawn()));
    } catch {
      this.#fillLater();
    }
  }

  #fillLater(): void {
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined;
      this.#fill();
    }, RESPAWN_MS).unref();
  }

  #spawn(): Child {
    const child = this.#start();
    setTimeout(() => {
      if (!child.ready) child.kill("unresponsive");
    }, START_MS).unref();
    return child;
  }
}
