import { outsideRequest } from "@toolgate/telemetry/request";
import { LANE_NAMES, type LaneName, laneSizes } from "../lanes.ts";
import type { SpawnProcess } from "../processes/engine-process.ts";
import { spawnOrEnd } from "../processes/spawn-or-end.ts";
import type { GuestSettings } from "../protocol/messages.ts";
import { Child, type ChildEvents } from "./child.ts";

const FIRST_RESPAWN_MS = 200;
const LONGEST_RESPAWN_MS = 10_000;
const RETIRE_EVERY_MS = 30_000;
/** A child that is not up after this long is started again. */
const START_MS = 60_000;

/** The child processes of each lane, and a warm spare. */
export class Children implements AsyncDisposable {
  readonly #lanes: Record<LaneName, readonly Child[]> = { ordinary: [], slow: [], new: [], apart: [] };
  readonly #sizes: Readonly<Record<LaneName, number>>;
  #spare: Child | undefined;
  #closed = false;
  #respawnMs = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #retireTimer: NodeJS.Timeout;
  /** Children that had no runs at the last look and are not needed all the time. */
  #idle = new Set<Child>();
  readonly #retired = new Set<Child>();
  /** Children that have been replaced, and still have runs. */
  readonly #draining = new Set<Child>();
  readonly #spawn: () => Child;
  readonly #now: () => number;

  constructor(size: number, settings: GuestSettings, spawn: SpawnProcess, events: ChildEvents, now: () => number) {
    this.#sizes = laneSizes(size);
    const onEnd: ChildEvents["onEnd"] = (child, end) => {
      if (this.#closed || this.#retired.delete(child)) return;
      this.#replace(child);
      events.onEnd(child, end);
    };
    this.#now = now;
    this.#spawn = () =>
      outsideRequest(() => {
        const child = new Child(settings, spawnOrEnd(spawn), { ...events, onEnd }, now);
        setTimeout(() => {
          if (child.readySince === undefined) child.kill("unresponsive");
        }, START_MS).unref();
        return child;
      });
    this.#fill();
    this.#retireTimer = outsideRequest(() => setInterval(() => this.retireIdle(), RETIRE_EVERY_MS)).unref();
  }

  of(lane: LaneName): readonly Child[] {
    return this.#lanes[lane];
  }

  all(): Child[] {
    const children = LANE_NAMES.flatMap((lane) => this.#lanes[lane]);
    if (this.#spare !== undefined) children.push(this.#spare);
    return [...children, ...this.#draining];
  }

  /** Adds a child to a lane if it may have another and none is starting. True when the new one is already up. */
  grow(lane: LaneName): boolean {
    const children = this.#lanes[lane];
    if (this.#closed || this.#timer !== undefined) return false;
    if (children.length >= this.#sizes[lane] || children.some(({ ready }) => !ready)) return false;
    // Workspaces that have done no harm need not wait for a child to start. One that starts at a low priority delays nobody.
    const child = lane === "apart" ? this.#spawn() : this.#takeSpare();
    child.process.setLane(lane);
    this.#lanes[lane] = [...children, child];
    this.#spare ??= this.#spawn();
    return child.ready;
  }

  /** Ends the children of the lanes on demand that have had no runs since the last call. */
  retireIdle(): void {
    const idle = LANE_NAMES.filter((lane) => lane !== "ordinary")
      .flatMap((lane) => this.#lanes[lane])
      .filter(({ assigned, ready }) => ready && assigned.size === 0);
    for (const child of idle) {
      if (!this.#idle.has(child)) continue;
      this.#retire(child);
    }
    this.#idle = new Set(idle);
  }

  /** Replaces a child whose process is about to be stopped. */
  replaceLeaving(child: Child): void {
    if (this.#closed) return;
    this.#remove(child);
    this.#draining.add(child);
    this.endLeaving();
    this.#fill();
  }

  /** Ends the replaced children that have no runs any more. */
  endLeaving(): void {
    for (const child of this.#draining) if (child.assigned.size === 0) this.#retire(child);
  }

  /** A child has been given a run. */
  used(child: Child): void {
    this.#idle.delete(child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#retireTimer);
    await Promise.all(this.all().map((child) => child[Symbol.asyncDispose]()));
  }

  #remove(ended: Child): void {
    for (const lane of LANE_NAMES) this.#lanes[lane] = this.#lanes[lane].filter((child) => child !== ended);
    if (this.#spare === ended) this.#spare = undefined;
    this.#idle.delete(ended);
    this.#draining.delete(ended);
  }

  #retire(child: Child): void {
    this.#remove(child);
    this.#retired.add(child);
    void child[Symbol.asyncDispose]();
  }

  /** Replaces a child immediately if it had runs or had been up for a while; otherwise after growing pauses. */
  #replace(ended: Child): void {
    const upMs = this.#now() - (ended.readySince ?? this.#now());
    const hadRuns = ended.assigned.size > 0 || ended.lastStep > 0;
    const hasWorked = hadRuns || upMs >= LONGEST_RESPAWN_MS || ended.killedFor !== undefined;
    this.#respawnMs = hasWorked ? 0 : Math.min(LONGEST_RESPAWN_MS, Math.max(FIRST_RESPAWN_MS, this.#respawnMs * 2));
    this.#remove(ended);
    if (hasWorked) this.#fill();
    else
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#fill();
      }, this.#respawnMs);
  }

  #fill(): void {
    while (this.#lanes.ordinary.length < this.#sizes.ordinary) {
      this.#lanes.ordinary = [...this.#lanes.ordinary, this.#takeSpare()];
    }
    this.#spare ??= this.#spawn();
  }

  #takeSpare(): Child {
    const child = this.#spare ?? this.#spawn();
    this.#spare = undefined;
    return child;
  }
}
