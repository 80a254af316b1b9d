import { join } from "node:path";
import { migrateAll } from "@toolgate/installation/migrate";
import { readAllConfigs, startSingle } from "@toolgate/installation/single";
import { canOpenInstallation } from "@toolgate/key-auth/operator/provision";
import { withPool } from "@toolgate/postgres/pool";
import { createSecretBox, parseSealingKeys } from "@toolgate/secret-box/secret-box";
import { createLogger } from "@toolgate/service-host/process/logger";
import { startOpsServer } from "@toolgate/service-host/process/ops-server";
import { createReadiness } from "@toolgate/service-host/process/readiness";
import { startMetrics } from "@toolgate/telemetry/sdk";
import { startTracing } from "@toolgate/telemetry/tracing";
import { receiverCaFile } from "./demo/receiver.ts";
import { installationSecrets, publicKeysOf } from "./installation-secrets.ts";
import type { Logins } from "./logins.ts";
import { startSplit, type Topology } from "./split.ts";

/** Where the services find what they need, and where the gateway listens. */
type TopologySettings = {
  databaseUrl: string;
  natsUrl: string;
  redisUrl: string;
  /** What each service logs in with; the addresses above are those of the administrator. */
  logins?: Logins;
  /** 0 picks a free port. */
  port: number;
  dataDir: string;
  /** Non-public addresses that webhooks and tools may call nevertheless. */
  allowedTargets: string[];
  /** PEM file that is trusted for webhook targets; the demo receiver's when it is absent. */
  targetCaFile?: string;
  /** Further environment of the services. */
  env?: Record<string, string>;
  log: (line: string) => void;
  /**
   * Cancels a start that is under way, but only in the split topology: in one process, the caller stops waiting and
   * exits.
   */
  signal?: AbortSignal;
};

const HOST = "127.0.0.1";
const LOG_LEVEL = "warn";

/**
 * Brings the schemas up to date and starts all services: in this process, or one process for each. Refuses a database
 * whose secrets the data folder cannot open, and changes nothing there.
 */
export async function startTopology(kind: "single" | "split", settings: TopologySettings): Promise<Topology> {
  const { databaseUrl, dataDir, port, log, signal, logins } = settings;
  const env = await serviceEnvironment(settings);
  await refuseForeignDatabase(databaseUrl, env.SEALING_KEYS ?? "", dataDir);
  await migrateAll(databaseUrl);
  if (kind === "single") return startInProcess(env, logins, log);
  const { serviceKeys } = await installationSecrets(dataDir);
  return startSplit({ env, serviceKeys, port, log, logins, signal });
}

async function refuseForeignDatabase(databaseUrl: string, sealingKeys: string, dataDir: string): Promise<void> {
  const box = createSecretBox({ keys: parseSealingKeys(sealingKeys) });
  if (await withPool(databaseUrl, "start", (pool) => canOpenInstallation(pool, box))) return;
  throw new Error(
    `the database contains an installation whose secrets ${dataDir} cannot open: choose the data folder that it was made with (DATA_DIR), or another database (DATABASE_URL)`,
  );
}

/** The environment that the services share. */
export async function serviceEnvironment(settings: TopologySettings): Promise<Record<string, string>> {
  const { sealingKeys, serviceKeys } = await installationSecrets(settings.dataDir);
  return {
    NODE_ENV: "development",
    LOG_LEVEL,
    DATABASE_URL: settings.databaseUrl,
    NATS_URL: settings.natsUrl,
    REDIS_URL: settings.redisUrl,
    HTTP_HOST: HOST,
    PORT: String(settings.port),
    SERVICE_PUBLIC_KEYS: publicKeysOf(serviceKeys),
    SEALING_KEYS: sealingKeys,
    ALLOWED_TARGETS: settings.allowedTargets.join(","),
    TARGET_CA_FILE: settings.targetCaFile ?? receiverCaFile(settings.dataDir),
    // Nobody waits for a stop of `make run`.
    DRAIN_IDLE_MS: "0",
    CHAT_FILES: join(settings.dataDir, "chat-files"),
    // The demo workspace's data is in a server on this machine.
    ALLOWED_DATA_SOURCES: "127.0.0.0/8,::1/128",
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("OTEL_"))),
    ...settings.env,
  };
}

async function startInProcess(
  env: Record<string, string>,
  logins: Logins | undefined,
  log: TopologySettings["log"],
): Promise<Topology> {
  // A logger that writes to the standard output would throw when the terminal is gone.
  const destination = { write: (line: string) => log(line.trimEnd()) };
  const logger = createLogger({ service: "toolgate", level: LOG_LEVEL, destination });
  await using resources = new AsyncDisposableStack();
  const { scrape } = resources.use(startMetrics());
  resources.use(await startTracing("toolgate", env));
  const single = resources.use(await startSingle(readAllConfigs(env, logins), logger));
  const readiness = createReadiness(() => single.ready());
  const ops = resources.use(await startOpsServer({ readiness, host: HOST, port: 0, scrape }));
  const owned = resources.move();
  return {
    baseUrl: `http://${HOST}:${single.port}`,
    opsUrls: [`http://${HOST}:${ops.port}`],
    async stop() {
      readiness.markDraining();
      await single.drain();
      await owned.disposeAsync();
    },
    pids: () => ({ toolgate: process.pid }),
  };
}
