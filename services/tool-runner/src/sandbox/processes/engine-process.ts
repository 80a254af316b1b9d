import type { LaneName } from "../lanes.ts";
import type { GuestSettings } from "../protocol/messages.ts";

/** What the watchdog sees of a process. */
export type Reading = {
  /** The step that it is working on or worked on last, and after how long it tries to interrupt it. */
  step: number;
  timeoutMs: number;
  /** CPU time of its main thread; undefined where the system does not tell. */
  cpuMs: number | undefined;
  residentMib: number;
};

export type ProcessEnd = {
  signal: NodeJS.Signals | null;
  code: number | null;
  stderr: string;
  /** The operating system ended it because it exceeded the memory of its cgroup. */
  outOfMemory: boolean;
};

export type ProcessEvents = {
  onData: (chunk: Buffer) => void;
  /** It is about to be stopped, and should get no more runs. */
  onDraining?: () => void;
  /** Called once, and last. */
  onEnd: (end: ProcessEnd) => void;
};

/**
 * The process that runs the child program, as the pool sees it: a process on this machine, or one that a sandbox process
 * has started for the pool.
 */
export interface EngineProcess {
  /** Undefined when it runs elsewhere. */
  readonly pid: number | undefined;
  /** `onWritten` is called once it may be sent more, or with an error when it has ended. */
  write(bytes: Buffer, onWritten: (error?: Error | null) => void): void;
  setLane(lane: LaneName): void;
  /** The latest reading; undefined while there is none. */
  reading(): Reading | undefined;
  /** The last step that it is known to have begun. */
  currentStep(): number;
  /**
   * Makes it skip the starts up to this step that it has not begun. `onBegun` gets the last step that it may have begun;
   * it will certainly not begin those after it.
   */
  takeBack(lastStep: number, onBegun: (begun: number) => void): void;
  /** It has no steps to carry out, so no readings are needed until the next write. */
  rest(): void;
  kill(): void;
}

export type SpawnProcess = (settings: GuestSettings, events: ProcessEvents) => EngineProcess;
