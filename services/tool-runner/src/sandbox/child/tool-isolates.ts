import type { GuestSettings } from "../protocol/messages.ts";
import { CpuShare } from "./cpu-share.ts";
import type { Engine } from "./engine.ts";
import { ISOLATE_MIB, Isolate } from "./isolate.ts";

export const MAX_ISOLATES = 128;
const MAX_TOTAL_HEAP_MIB = 512;
/**
 * What all isolates may hold: a workspace may hold as much as is then left, so that the process stays below `childRssMib`
 * whoever fills it. No workspace is refused what one isolate may hold.
 */
const MAX_HELD_MIB = 768;
/** Below this, an isolate does not end because of what others of its workspace hold. */
const SMALL_MIB = 8;
/** Above this resident memory of the process, idle isolates end. */
const MAX_RESIDENT_MIB = 640;
const BYTES_PER_MIB = 1024 * 1024;
/** A step that takes longer may have changed a lot. */
const LONG_STEP_MS = 1;
const MAX_RUNS_PER_ISOLATE = 200;
const RUNS_BEFORE_RECYCLING = 20_000;
const HEAP_BEFORE_RECYCLING_MIB = 20;
const STEPS_BETWEEN_HEAP_READINGS = 64;

/** An isolate with its tool loaded, and the tickets of the runs in it. */
export type ToolIsolate = {
  readonly isolate: Engine;
  readonly codeId: number;
  /** Undefined from a pool of an earlier version. */
  readonly workspaceId: string | undefined;
  readonly tickets: Set<number>;
  runsServed: number;
  stepsUntilReading: number;
  heapMib: number;
};

/** The isolates of a child: one for each tool that runs or ran recently, and a spare. */
export class ToolIsolates {
  readonly #settings: GuestSettings;
  readonly share = CpuShare.ofStart();
  readonly #codes = new Map<number, { code: string; workspaceId: string | undefined }>();
  /** The isolate for new runs of each tool. */
  readonly #current = new Map<number, ToolIsolate>();
  /** Includes isolates that get no new runs and only finish their current ones. The least recently used comes first. */
  readonly #all = new Set<ToolIsolate>();
  #spare: Engine | undefined;

  constructor(settings: GuestSettings) {
    this.#settings = settings;
    this.prepareSpare();
  }

  define(codeId: number, code: string, workspaceId: string | undefined): void {
    this.#codes.set(codeId, { code, workspaceId });
  }

  forget(codeId: number): void {
    this.#codes.delete(codeId);
    const tool = this.#current.get(codeId);
    if (tool !== undefined) this.#retire(tool);
  }

  prepareSpare(): void {
    this.#spare ??= new Isolate(this.#settings, this.share);
  }

  /** The isolate for a new run, or undefined when all are in use. Throws a SyntaxError when the tool does not compile. */
  forNewRun(codeId: number): ToolIsolate | undefined {
    let tool = this.#current.get(codeId);
    if (tool !== undefined && tool.tickets.size >= MAX_RUNS_PER_ISOLATE) {
      this.#retire(tool);
      tool = undefined;
    }
    tool ??= this.#open(codeId);
    if (tool === undefined) return undefined;
    tool.runsServed += 1;
    if (this.#all.size > 1) {
      this.#all.delete(tool);
      this.#all.add(tool);
    }
    return tool;
  }

  /**
   * Call it after every step, with the CPU time that it used: retires isolates that are too large or too old. Returns
   * whether the isolate must end because its workspace holds too much memory.
   */
  afterStep(tool: ToolIsolate, stepMs: number): boolean {
    let mustEnd = false;
    tool.stepsUntilReading -= stepMs >= LONG_STEP_MS ? STEPS_BETWEEN_HEAP_READINGS : 1;
    if (tool.stepsUntilReading <= 0 && !tool.isolate.isDead) {
      tool.stepsUntilReading = STEPS_BETWEEN_HEAP_READINGS;
      tool.heapMib = tool.isolate.heapMib;
      if (tool.heapMib > HEAP_BEFORE_RECYCLING_MIB) this.#retire(tool);
      if (process.memoryUsage.rss() > MAX_RESIDENT_MIB * BYTES_PER_MIB) this.#endIdle();
      mustEnd = tool.heapMib > SMALL_MIB && this.#holdsTooMuch(tool);
    }
    if (tool.runsServed >= RUNS_BEFORE_RECYCLING) this.#retire(tool);
    if (tool.tickets.size === 0 && this.#current.get(tool.codeId) !== tool) this.destroy(tool);
    return mustEnd;
  }

  /** Ends an isolate immediately, with the runs in it. */
  destroy(tool: ToolIsolate): void {
    if (this.#current.get(tool.codeId) === tool) this.#current.delete(tool.codeId);
    this.#all.delete(tool);
    tool.isolate[Symbol.dispose]();
  }

  /** New runs get another isolate; the runs in this one may finish. */
  #retire(tool: ToolIsolate): void {
    if (this.#current.get(tool.codeId) === tool) this.#current.delete(tool.codeId);
    if (tool.tickets.size === 0) this.destroy(tool);
  }

  #open(codeId: number): ToolIsolate | undefined {
    const known = this.#codes.get(codeId);
    if (known === undefined) throw new Error("The tool is not known here");
    const { code, workspaceId } = known;
    if (!this.#makeRoom()) return undefined;
    const isolate = this.#spare ?? new Isolate(this.#settings, this.share);
    this.#spare = undefined;
    try {
      isolate.compile(code);
    } catch (error) {
      isolate[Symbol.dispose]();
      throw error;
    }
    const counts = { runsServed: 0, stepsUntilReading: 1, heapMib: 0 };
    const tool = { isolate, codeId, workspaceId, tickets: new Set<number>(), ...counts };
    this.#current.set(codeId, tool);
    this.#all.add(tool);
    return tool;
  }

  #holdsTooMuch({ workspaceId }: ToolIsolate): boolean {
    if (workspaceId === undefined || !this.#isBeyondShare(workspaceId)) return false;
    this.#endIdle();
    return this.#isBeyondShare(workspaceId);
  }

  #isBeyondShare(workspaceId: string): boolean {
    const mine = this.#heldMib((tool) => tool.workspaceId === workspaceId);
    return mine > ISOLATE_MIB && mine > MAX_HELD_MIB - this.#heldMib();
  }

  #heldMib(isCounted: (tool: ToolIsolate) => boolean = () => true): number {
    let heldMib = 0;
    for (const tool of this.#all) if (isCounted(tool)) heldMib += tool.heapMib;
    return heldMib;
  }

  #endIdle(): void {
    for (const tool of this.#all) if (tool.tickets.size === 0) this.destroy(tool);
  }

  /** Makes room for one more isolate by ending idle ones, and only idle ones. */
  #makeRoom(): boolean {
    while (this.#isFull()) {
      const idle = [...this.#all].find(({ tickets }) => tickets.size === 0);
      if (idle === undefined) return false;
      this.destroy(idle);
    }
    return true;
  }

  #isFull(): boolean {
    return this.#all.size >= MAX_ISOLATES || this.#heldMib() > MAX_TOTAL_HEAP_MIB;
  }
}
