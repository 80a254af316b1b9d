import { startMetrics } from "@toolgate/telemetry/sdk";
import { type Env, type EnvReader, readAll, readConfig } from "./env.ts";
import { createLogger, type Logger } from "./logger.ts";
import { startOpsServer } from "./process/ops-server.ts";
import { createReadiness } from "./process/readiness.ts";
import { untilStopSignal } from "./process/stop-signal.ts";
import { openProcessTls, type ProcessTls } from "./tls/process-tls.ts";
import { readTlsFiles } from "./tls/settings.ts";

/** A process that serves no RPCs and calls no service, and so needs no credentials. */
export interface PlainProcess<Config> {
  readonly name: string;
  /** Throws one error that names every variable that is missing or malformed. */
  readConfig(env: Env): Config;
  start(config: Config, host: PlainHost): Promise<PlainServer>;
}

interface PlainHost {
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

const END_WITHIN_MS = 1_000;
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** What every such process reads. */
const readPlain = (env: Env) =>
  readConfig(env, (reader: EnvReader) => ({
    host: reader.text("BIND_HOST", "127.0.0.1"),
    opsPort: reader.integer("OPS_PORT", { fallback: 0, min: 0, max: 65_535 }),
    level: reader.choice("LOG_LEVEL", LOG_LEVELS, "info"),
    tlsFiles: readTlsFiles(reader),
  }));

/** Like `launch`, for a process without RPCs: with probes and metrics, and the same way to stop and to fail. */
export async function launchPlain<C>(definition: PlainProcess<C>, env: Env = process.env): Promise<void> {
  const { name } = definition;
  const stopped = untilStopSignal();
  let log = createLogger({ service: name, level: "info" });
  try {
    type Plain = ReturnType<typeof readPlain>;
    const [{ host, opsPort, level, tlsFiles }, config] = readAll<[Plain, C]>(env, [readPlain, definition.readConfig]);
    log = createLogger({ service: name, level });
    process.on("uncaughtExceptionMonitor", (error) => log.fatal({ err: error }, "crashed"));
    await using metrics = startMetrics();
    await using tls = tlsFiles && (await openProcessTls(tlsFiles, { log }));
    await using server = await definition.start(config, { log, tls });
    const readiness = createReadiness(async () => {});
    await using ops = await startOpsServer({ readiness, host, port: opsPort, scrape: metrics.scrape });
    log.info({ ...server.describe(), opsPort: ops.port }, "started");
    const signal = await stopped;
    log.info({ signal }, "draining");
    readiness.markDraining();
    await server.drain();
  } catch (error) {
    log.fatal({ err: error }, "failed");
    process.exitCode = 1;
  }
  log.info("stopped");
  // Unref: a process with nothing left to do must not wait for it.
  setTimeout(() => process.exit(), END_WITHIN_MS).unref();
}
