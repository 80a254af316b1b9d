import { readFile } from "node:fs/promises";
import { createSafeFetch } from "@toolgate/safe-fetch/fetch";
import type { Loops } from "@toolgate/service-host/loops";
import type { Config } from "../config.ts";
import type { Basis } from "../context.ts";
import { runWorker } from "../worker/worker.ts";

/** Two for each of two thousand endpoints, because a handshake costs more than a delivery. */
const MAX_IDLE_CONNECTIONS = 4_096;

/** Makes the attempts that dispatchers send. */
export async function createWorker(
  { bus, log, now, resolver }: Basis,
  config: Config,
  attemptDeadlineMs: number,
  resources: AsyncDisposableStack,
): Promise<Loops> {
  const { allowedTargets, applicationHosts, targetCaFile, workerConcurrency: concurrency } = config;
  const safeFetch = resources.use(
    createSafeFetch({
      allowList: allowedTargets,
      applicationHosts,
      schemes: ["https:"],
      maxIdleConnections: MAX_IDLE_CONNECTIONS,
      ...(resolver && { resolver }),
      ...(targetCaFile && { tls: { ca: await readFile(targetCaFile, "utf8") } }),
    }),
  );
  const onError = (error: unknown) => log.error({ err: error }, "worker");
  const onTooLate = (attempts: number) =>
    log.warn({ attempts }, "attempts arrived too late and were not made: too few workers, or clock skew");
  const options = { bus, safeFetch, concurrency, attemptDeadlineMs, now, onError, onTooLate };
  const run = (signal: AbortSignal) => runWorker({ ...options, signal });
  return { producers: [run] };
}
