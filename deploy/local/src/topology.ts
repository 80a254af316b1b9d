import { migrateAll } from "@toolgate/installation/migrate";
import { startSingle } from "@toolgate/installation/single";
import { createLogger } from "@toolgate/service-host/logger";
import { receiverCaFile } from "./demo/receiver.ts";
import { installationSecrets } from "./installation-secrets.ts";
import { startSplit } from "./split.ts";

/** Where the services find what they need, and where the gateway listens. */
export type TopologySettings = {
  databaseUrl: string;
  natsUrl: string;
  redisUrl: string;
  /** 0 picks a free port. */
  port: number;
  dataDir: string;
  /** Non-public addresses that webhooks and tools may call all the same. */
  allowedTargets: string[];
  /** PEM file that is trusted for webhook targets; the demo receiver's when it is absent. */
  targetCaFile?: string;
  log: (line: string) => void;
};

export type Topology = { baseUrl: string; stop(): Promise<void>; pids(): Record<string, number> };

const HOST = "127.0.0.1";
const LOG_LEVEL = "warn";

/** Brings the schemas up to date and starts all services: in this process, or one process for each. */
export async function startTopology(kind: "single" | "split", settings: TopologySettings): Promise<Topology> {
  await migrateAll(settings.databaseUrl);
  const env = await serviceEnvironment(settings);
  return kind === "single" ? startInProcess(env) : startSplit({ env, port: settings.port, log: settings.log });
}

/** The environment that the services share. */
export async function serviceEnvironment(settings: TopologySettings): Promise<Record<string, string>> {
  const { internalToken, sealingKeys } = await installationSecrets(settings.dataDir);
  return {
    NODE_ENV: "development",
    LOG_LEVEL,
    DATABASE_URL: settings.databaseUrl,
    NATS_URL: settings.natsUrl,
    REDIS_URL: settings.redisUrl,
    HTTP_HOST: HOST,
    PORT: String(settings.port),
    INTERNAL_TOKEN: internalToken,
    SEALING_KEYS: sealingKeys,
    ALLOWED_TARGETS: settings.allowedTargets.join(","),
    TARGET_CA_FILE: settings.targetCaFile ?? receiverCaFile(settings.dataDir),
    // The demo workspace's data lives in this machine's own server.
    ALLOWED_DATA_SOURCES: "127.0.0.0/8,::1/128",
  };
}

async function startInProcess(env: Record<string, string>): Promise<Topology> {
  const log = createLogger({ service: "toolgate", level: LOG_LEVEL });
  const single = await startSingle(env, log, env.INTERNAL_TOKEN ?? "");
  return {
    baseUrl: `http://${HOST}:${single.port}`,
    async stop() {
      await single.drain();
      await single[Symbol.asyncDispose]();
    },
    pids: () => ({ toolgate: process.pid }),
  };
}
