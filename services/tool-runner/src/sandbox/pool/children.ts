import { outsideRequest } from "@toolgate/telemetry/request";
import type { GuestSettings } from "../protocol/messages.ts";
import { Child, type ChildEnd, type ChildEvents } from "./child.ts";

const FIRST_RESPAWN_MS = 200;
const LONGEST_RESPAWN_MS = 10_000;

/** The child processes: workers, one for code in quarantine once there is any, and a warm spare to replace either. */
export class Children implements AsyncDisposable {
  workers: readonly Child[] = [];
  quarantine: Child | undefined;
  #spare: Child | undefined;
  #wantsQuarantine = false;
  #closed = false;
  #respawnMs = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #size: number;
  readonly #spawn: () => Child;

  constructor(size: number, settings: GuestSettings, events: ChildEvents, now: () => number) {
    this.#size = size;
    const onEnd = (child: Child, end: ChildEnd) => {
      if (this.#closed) return;
      this.#replace(child);
      events.onEnd(child, end);
    };
    this.#spawn = () => outsideRequest(() => new Child(settings, { ...events, onEnd }, now));
    this.#fill();
  }

  all(): Child[] {
    return [...this.workers, this.quarantine, this.#spare].filter((child) => child !== undefined);
  }

  /** Has a child for code in quarantine from now on. */
  openQuarantine(): void {
    if (this.#wantsQuarantine) return;
    this.#wantsQuarantine = true;
    this.#fill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await Promise.all(this.all().map((child) => child[Symbol.asyncDispose]()));
  }

  /** Replaces a child immediately if it had been up; otherwise after growing pauses. */
  #replace(ended: Child): void {
    const hasWorked = ended.assigned.size > 0 || ended.lastStep > 0 || ended.killedFor !== undefined;
    this.#respawnMs = hasWorked ? 0 : Math.min(LONGEST_RESPAWN_MS, Math.max(FIRST_RESPAWN_MS, this.#respawnMs * 2));
    this.workers = this.workers.filter((child) => child !== ended);
    if (this.quarantine === ended) this.quarantine = undefined;
    if (this.#spare === ended) this.#spare = undefined;
    if (hasWorked) this.#fill();
    else
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#fill();
      }, this.#respawnMs);
  }

  #fill(): void {
    while (this.workers.length < this.#size) this.workers = [...this.workers, this.#takeSpare()];
    if (this.#wantsQuarantine) this.quarantine ??= this.#takeSpare();
    this.#spare ??= this.#spawn();
  }

  #takeSpare(): Child {
    const child = this.#spare ?? this.#spawn();
    this.#spare = undefined;
    return child;
  }
}
