export type ProcessEnd = {
  signal: NodeJS.Signals | null;
  code: number | null;
  stderr: string;
  /** It was not started, because the sandbox service has as many as it can. */
  isFull?: boolean;
};

export type ProcessEvents = {
  onData: (chunk: Buffer) => void;
  /** It is about to be stopped, and should get no more runs. */
  onDraining?: () => void;
  /** Called once, and last. */
  onEnd: (end: ProcessEnd) => void;
};

/** The process that runs the child program, as the pool sees it: on this machine, or started by a sandbox service. */
export interface EngineProcess {
  /** Undefined when it runs elsewhere. */
  readonly pid: number | undefined;
  /** `onWritten` is called once it may be sent more, or with an error when it has ended. */
  write(bytes: Buffer, onWritten: (error?: Error | null) => void): void;
  kill(): void;
}

/** Throws when no process can be started, for lack of file descriptors for example. */
export type SpawnProcess = (events: ProcessEvents) => EngineProcess;
