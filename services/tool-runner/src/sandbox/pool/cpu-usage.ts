import { LRUCache } from "lru-cache";

export const HALF_LIFE_MS = 3_000;
const UNKNOWN_MS = 1;
const LEARNING = 0.2;
const MAX_WORKSPACES = 100_000;

/** The CPU time that each workspace has used lately. It halves after each half-life, so that the past is soon forgotten. */
export class CpuUsage {
  readonly #usage = new LRUCache<string, { ms: number; at: number }>({ max: MAX_WORKSPACES });
  readonly #expected = new LRUCache<string, number>({ max: MAX_WORKSPACES });
  readonly #now: () => number;
  readonly #halfLifeMs: number;

  constructor(now: () => number, halfLifeMs = HALF_LIFE_MS) {
    this.#now = now;
    this.#halfLifeMs = halfLifeMs;
  }

  /** Adds CPU time that a run of the workspace has used. */
  charge(workspaceId: string, ms: number): void {
    if (ms > 0) this.#usage.set(workspaceId, { ms: this.of(workspaceId) + ms, at: this.#now() });
  }

  /** Learns from the CPU time of a whole run. */
  expect(workspaceId: string, cpuMs: number): void {
    const before = this.#expected.get(workspaceId);
    this.#expected.set(workspaceId, before === undefined ? cpuMs : before + (cpuMs - before) * LEARNING);
  }

  /** The CPU time that the workspace's next run will probably use. */
  expectedMs(workspaceId: string): number {
    return this.#expected.get(workspaceId) ?? UNKNOWN_MS;
  }

  of(workspaceId: string): number {
    const used = this.#usage.get(workspaceId);
    return used === undefined ? 0 : used.ms * 2 ** ((used.at - this.#now()) / this.#halfLifeMs);
  }

  /** Sorts workspaces: the one that has used least comes first. */
  readonly compare = (a: string, b: string): number => this.of(a) - this.of(b);
}
