import type { GuestSettings } from "../protocol/messages.ts";
import { ISOLATE_MIB, Isolate } from "./isolate.ts";

/** More are kept only while they are all in use; the pool gives a child runs of at most as many tools at a time. */
const MAX_WARM = 64;
/** What the isolates may hold together, so that the process stays below `childRssMib`. */
const MAX_HELD_MIB = 512;
/** Below this, an isolate does not end because of what the others hold. */
const SMALL_MIB = 8;
/** A step that takes longer may have changed a lot. */
const LONG_STEP_MS = 1;
const MAX_RUNS_PER_ISOLATE = 200;
const RUNS_BEFORE_RECYCLING = 20_000;
const HEAP_BEFORE_RECYCLING_MIB = 20;
const STEPS_BETWEEN_HEAP_READINGS = 64;

/** An isolate with its tool, and the tickets of the runs in it. */
export type ToolIsolate = {
  readonly isolate: Isolate;
  readonly codeId: number;
  /** Rejects with a SyntaxError when the tool does not compile. */
  readonly loaded: Promise<void>;
  readonly tickets: Set<number>;
  runsServed: number;
  stepsUntilReading: number;
  heapMib: number;
};

/** The isolates of a child: one for each tool that runs or ran recently, and a spare. */
export class ToolIsolates {
  readonly #settings: GuestSettings;
  readonly #codes = new Map<number, string>();
  /** The isolate for new runs of each tool. */
  readonly #current = new Map<number, ToolIsolate>();
  /** Includes isolates that get no new runs and only finish their current ones. The least recently used comes first. */
  readonly #all = new Set<ToolIsolate>();
  #spare: Isolate | undefined;

  constructor(settings: GuestSettings) {
    this.#settings = settings;
    this.prepareSpare();
  }

  define(codeId: number, code: string): void {
    this.#codes.set(codeId, code);
  }

  forget(codeId: number): void {
    this.#codes.delete(codeId);
    const tool = this.#current.get(codeId);
    if (tool !== undefined) this.#retire(tool);
  }

  prepareSpare(): void {
    this.#spare ??= new Isolate(this.#settings);
  }

  /** The isolate of a tool that takes a new run, if there is one. */
  openFor(codeId: number): ToolIsolate | undefined {
    const tool = this.#current.get(codeId);
    if (tool === undefined || tool.tickets.size < MAX_RUNS_PER_ISOLATE) return tool;
    this.#retire(tool);
    return undefined;
  }

  /** The isolate for a new run. */
  forNewRun(codeId: number): ToolIsolate {
    const tool = this.openFor(codeId) ?? this.#open(codeId);
    tool.runsServed += 1;
    this.#all.delete(tool);
    this.#all.add(tool);
    return tool;
  }

  /**
   * Call it after every step, with the CPU time that it used: retires isolates that are too large or too old. Resolves to
   * whether the isolate must end because all together hold too much memory.
   */
  async afterStep(tool: ToolIsolate, stepMs: number): Promise<boolean> {
    tool.stepsUntilReading -= stepMs >= LONG_STEP_MS ? STEPS_BETWEEN_HEAP_READINGS : 1;
    let mustEnd = false;
    if (tool.stepsUntilReading <= 0) {
      tool.stepsUntilReading = STEPS_BETWEEN_HEAP_READINGS;
      tool.heapMib = await tool.isolate.heapMib();
      if (tool.heapMib > HEAP_BEFORE_RECYCLING_MIB) this.#retire(tool);
      mustEnd = tool.heapMib > SMALL_MIB && this.#holdTooMuch();
    }
    if (tool.runsServed >= RUNS_BEFORE_RECYCLING) this.#retire(tool);
    this.release(tool);
    return mustEnd;
  }

  /** Ends an isolate that gets no new runs, once it has none. */
  release(tool: ToolIsolate): void {
    if (tool.tickets.size === 0 && this.#current.get(tool.codeId) !== tool) this.destroy(tool);
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
    this.release(tool);
  }

  #open(codeId: number): ToolIsolate {
    const code = this.#codes.get(codeId);
    if (code === undefined) throw new Error("The tool is not known here");
    this.#endIdle(MAX_WARM - 1);
    const isolate = this.#spare ?? new Isolate(this.#settings);
    this.#spare = undefined;
    const loaded = isolate.compile(code);
    // Awaited by the runs.
    loaded.catch(() => {});
    const counts = { runsServed: 0, stepsUntilReading: 1, heapMib: 0 };
    const tool = { isolate, codeId, loaded, tickets: new Set<number>(), ...counts };
    this.#current.set(codeId, tool);
    this.#all.add(tool);
    return tool;
  }

  #holdTooMuch(): boolean {
    if (this.#heldMib() <= MAX_HELD_MIB - ISOLATE_MIB) return false;
    this.#endIdle(0);
    return this.#heldMib() > MAX_HELD_MIB - ISOLATE_MIB;
  }

  #heldMib(): number {
    let heldMib = 0;
    for (const tool of this.#all) heldMib += tool.heapMib;
    return heldMib;
  }

  /** Ends idle isolates, the least recently used first, until at most `kept` isolates are left. */
  #endIdle(kept: number): void {
    for (const tool of this.#all) {
      if (this.#all.size <= kept) return;
      if (tool.tickets.size === 0) this.destroy(tool);
    }
  }
}
