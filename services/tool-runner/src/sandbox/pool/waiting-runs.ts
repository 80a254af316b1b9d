import type { SandboxRun } from "./run.ts";

/** The runs that wait in one lane, by workspace. */
export class WaitingRuns {
  readonly #queues = new Map<string, SandboxRun[]>();

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  add(run: SandboxRun): void {
    this.#queueOf(run).push(run);
  }

  /** Adds a run that had been placed already. */
  addFirst(run: SandboxRun): void {
    this.#queueOf(run).unshift(run);
  }

  /** Removes the runs of a workspace and returns them. */
  take(workspaceId: string): SandboxRun[] {
    const runs = this.#queues.get(workspaceId) ?? [];
    this.#queues.delete(workspaceId);
    return runs;
  }

  /**
   * Offers the first run of each workspace in turn, in the given order, until none is accepted any more. Returns the
   * first waiting run of each workspace that is left.
   */
  offer(compare: (a: string, b: string) => number, accept: (run: SandboxRun) => boolean): SandboxRun[] {
    let turn = [...this.#queues.keys()];
    if (turn.length > 1) turn.sort(compare);
    const left: SandboxRun[] = [];
    while (turn.length > 0) {
      const again: string[] = [];
      for (const workspaceId of turn) {
        const run = this.#first(workspaceId);
        if (run === undefined) continue;
        if (accept(run)) {
          this.#queues.get(workspaceId)?.shift();
          again.push(workspaceId);
        } else left.push(run);
      }
      turn = again;
    }
    return left;
  }

  /** The first run of a workspace that has not ended. */
  #first(workspaceId: string): SandboxRun | undefined {
    const queue = this.#queues.get(workspaceId);
    while (queue?.[0]?.state === "ended") queue.shift();
    const run = queue?.[0];
    if (run === undefined) this.#queues.delete(workspaceId);
    return run;
  }

  #queueOf({ request: { workspaceId } }: SandboxRun): SandboxRun[] {
    const known = this.#queues.get(workspaceId);
    if (known !== undefined) return known;
    const queue: SandboxRun[] = [];
    this.#queues.set(workspaceId, queue);
    return queue;
  }
}
