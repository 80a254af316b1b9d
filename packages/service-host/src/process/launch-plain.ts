import { startMetrics } from "@toolgate/telemetry/sdk";
import { type Env, readAll } from "../env.ts";
import { openProcessTls, type ProcessTls } from "../tls/process-tls.ts";
import { type HostConfig, readHostConfig } from "./host-config.ts";
import type { Logger } from "./logger.ts";
import { startOpsServer } from "./ops-server.ts";
import { createReadiness } from "./readiness.ts";
import { runProcess } from "./run-process.ts";

/** A process that serves no RPCs and calls no service, and so needs no credentials. */
export interface PlainProcess<Config> {
  readonly name: string;
  /** Throws one error that names every variable that is missing or malformed. */
  readConfig(env: Env): Config;
  start(config: Config, host: PlainHost): Promise<PlainServer>;
}

interface PlainHost extends Pick<HostConfig, "host" | "rpcPort"> {
  log: Logger;
  /** Its certificates, if connections between processes are encrypted. */
  tls: ProcessTls | undefined;
}

interface PlainServer extends AsyncDisposable {
  /** For the log line "started". */
  describe(): Record<string, unknown>;
  /** Takes no new work, and resolves when the rest is done. */
  drain(): Promise<void>;
}

/** Like `launch`, for a process without RPCs: with probes and metrics, and the same way to stop and to fail. */
export function launchPlain<C>({ name, readConfig, start }: PlainProcess<C>, env: Env = process.env): Promise<void> {
  return runProcess(name, async (stopped, openLog) => {
    const [host, config] = readAll<[HostConfig, C]>(env, [readHostConfig, readConfig]);
    const log = openLog(host.logLevel);
    await using metrics = startMetrics();
    await using tls = host.tlsFiles && (await openProcessTls(host.tlsFiles, { log }));
    await using server = await start(config, { host: host.host, rpcPort: host.rpcPort, log, tls });
    const readiness = createReadiness(async () => {});
    const { scrape } = metrics;
    await using ops = await startOpsServer({ readiness, host: host.host, port: host.opsPort, scrape });
    log.info({ ...server.describe(), opsPort: ops.port }, "started");
    const signal = await stopped;
    log.info({ signal }, "draining");
    readiness.markDraining();
    await server.drain();
  });
}
