import type { Logger } from "@toolgate/service-host/process/logger";
import { serverAddresses } from "@toolgate/service-host/rpc/addresses";
import type { ProcessTls } from "@toolgate/service-host/tls/process-tls";
import type { SandboxSettings } from "./config.ts";
import { detectIsolation } from "./isolation/detect.ts";
import { reportLayers } from "./isolation/layers.ts";
import { type PoolLimits, processesThatFit } from "./limits.ts";
import { createSandboxPool, type SandboxPool } from "./pool.ts";
import type { SpawnProcess } from "./processes/engine-process.ts";
import { LocalProcess } from "./processes/local-process.ts";
import { spawnRemotely } from "./processes/remote-process.ts";

type Options = {
  /** What a tool may call on `ctx`. */
  functions: readonly string[];
  /** Bounds that differ from the usual ones, for tests. */
  limits: Partial<PoolLimits> | undefined;
  log: Logger;
  tls: ProcessTls | undefined;
};

/**
 * The sandbox as tool-runner uses it: its processes are those of the sandbox service if there is one, otherwise children
 * of this process.
 */
export function openSandbox(settings: SandboxSettings, { functions, limits, log, tls }: Options): SandboxPool {
  const spawn = chooseSpawn(settings, log, tls);
  const processes = settings.remote ? settings.processes : processesThatFit(settings.processes);
  return createSandboxPool({ processes, functions, spawn, limits, log });
}

function chooseSpawn({ remote, requireIsolation }: SandboxSettings, log: Logger, tls?: ProcessTls): SpawnProcess {
  if (remote !== undefined) {
    return spawnRemotely({ addresses: () => serverAddresses(remote.urls), token: remote.token, tls });
  }
  const isolation = detectIsolation();
  reportLayers(isolation.layers, requireIsolation, log);
  return (events) => new LocalProcess(isolation, events);
}
