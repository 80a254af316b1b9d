import { cpus, loadavg, release, totalmem } from "node:os";

export type MachineDescription = {
  cores: number;
  cpu: string;
  memoryGib: number;
  kernel: string;
  node: string;
  /** Runnable processes of the last minute, before the run. */
  loadBefore: number;
};

export function describeMachine(): MachineDescription {
  const processors = cpus();
  return {
    cores: processors.length,
    cpu: processors[0]?.model.trim() ?? "unknown",
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.version,
    loadBefore: loadavg()[0] ?? Number.NaN,
  };
}
