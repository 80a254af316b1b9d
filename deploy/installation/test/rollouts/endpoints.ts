import { rename, writeFile } from "node:fs/promises";
import { pause } from "@toolgate/service-host/every";
import type { Pod } from "./pod.ts";

/** As in the chart, a pod that is not ready twice in a row gets no new connections; the chart asks every 5 s. */
const PROBE_EVERY_MS = 2_000;
const FAILURE_THRESHOLD = 2;

/** The addresses behind the name of each process, as the control plane of Kubernetes maintains them. */
export interface Endpoints extends AsyncDisposable {
  /** A pod that is ready. */
  add(pod: Pod): Promise<void>;
  /** A pod that has been told to stop. */
  remove(pod: Pod): Promise<void>;
  /** The addresses of the pods of a process that may get new connections. */
  of(process: string): readonly string[];
  /** Pods that were not ready for a while although they had not been told to stop. */
  readonly unready: readonly string[];
}

/** Writes the names that processes resolve into `file`, and asks each pod every 2 s whether it is ready. */
export async function startEndpoints(file: string): Promise<Endpoints> {
  const pods = new Map<Pod, { failures: number }>();
  const unready: string[] = [];
  const stopping = new AbortController();
  let writes = Promise.resolve();
  const of = (process: string) =>
    [...pods]
      .filter(([pod, { failures }]) => failures < FAILURE_THRESHOLD && pod.process === process)
      .map(([{ ip }]) => ip);
  const write = () => {
    writes = writes.then(async () => {
      const processes = new Set([...pods.keys()].map(({ process }) => process));
      const names = [...processes].map((process) => [nameOf(process), of(process)]);
      await writeFile(`${file}.next`, JSON.stringify(Object.fromEntries(names)));
      await rename(`${file}.next`, file);
    });
    return writes;
  };
  async function probe(): Promise<void> {
    while (!stopping.signal.aborted) {
      for (const [pod, state] of pods) {
        const ready = await pod.isReady();
        // One that drains is not ready either, but its name may keep its address for a while.
        if (pod.isTerminating || !pods.has(pod) || (ready && state.failures === 0)) continue;
        state.failures = ready ? 0 : state.failures + 1;
        if (state.failures === FAILURE_THRESHOLD) unready.push(`${pod.process} ${pod.ip}`);
        await write();
      }
      await pause(PROBE_EVERY_MS, stopping.signal);
    }
  }
  await write();
  const probing = probe();
  return {
    async add(pod) {
      pods.set(pod, { failures: 0 });
      await write();
    },
    async remove(pod) {
      pods.delete(pod);
      await write();
    },
    of,
    unready,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await probing;
      await writes;
    },
  };
}

/** The name of a process, as its clients have it in the addresses of their peers. */
export const nameOf = (process: string) => `${process}.rollouts.test`;
