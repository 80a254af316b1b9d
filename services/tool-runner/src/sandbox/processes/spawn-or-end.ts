import type { EngineProcess, SpawnProcess } from "./engine-process.ts";

const NO_PROCESS: EngineProcess = {
  pid: undefined,
  write: (_bytes, onWritten) => onWritten(new Error("the process did not start")),
  setLane: () => {},
  reading: () => undefined,
  currentStep: () => 0,
  takeBack: () => {},
  rest: () => {},
  kill: () => {},
};

/** Spawns a process. When that fails, for lack of file descriptors for example, the process counts as one that has ended. */
export function spawnOrEnd(spawn: SpawnProcess): SpawnProcess {
  return (settings, events) => {
    try {
      return spawn(settings, events);
    } catch (error) {
      setImmediate(() => events.onEnd({ signal: null, code: null, stderr: String(error), outOfMemory: false }));
      return NO_PROCESS;
    }
  };
}
