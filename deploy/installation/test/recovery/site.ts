import { randomBytes, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { provision } from "@toolgate/key-auth/operator/provision";
import { loginTo, type Management } from "@toolgate/local/demo/management";
import { loginsAt } from "@toolgate/local/logins";
import { startTopology } from "@toolgate/local/topology";
import { createPool } from "@toolgate/postgres/pool";
import { startReceiver, type TestReceiver } from "@toolgate/testbed/receiver";
import type { TestServer } from "@toolgate/testbed/servers";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { migrateAll, roleUrls, SERVICES_WITH_SCHEMA } from "../../src/migrate.ts";

/** The servers of one life of an installation. */
export interface SiteServers {
  databaseUrl: string;
  nats: Pick<TestServer, "url" | "urls">;
  redis: Pick<TestServer, "url" | "urls">;
}

/** What of an installation is not in its servers: its keys and uploaded files in a folder, its account, and its receiver. */
export interface Site extends AsyncDisposable {
  folder: string;
  receiver: TestReceiver;
  account: { workspace: string; email: string; password: string };
  /** Brings the schemas up to date, as the administrator, and gives each service its login. */
  migrate(databaseUrl: string): Promise<void>;
  start(servers: SiteServers): Promise<RunningSite>;
}

export interface RunningSite extends AsyncDisposable {
  baseUrl: string;
  manage: Management;
  stop(): Promise<void>;
  fetch(path: string, init: RequestInit): Promise<{ status: number; body: Record<string, unknown> }>;
}

export async function openSite(): Promise<Site> {
  const folder = await temporaryFolder();
  const receiver = await startReceiver({ tls: true });
  const targetCaFile = join(folder, "receiver-ca.pem");
  await writeFile(targetCaFile, receiver.ca ?? "");
  const passwords = Object.fromEntries(SERVICES_WITH_SCHEMA.map((name) => [name, randomBytes(16).toString("hex")]));
  const account = { workspace: `w-${randomUUID().slice(0, 8)}`, email: "admin@example.test", password: "a password" };
  return {
    folder,
    receiver,
    account,
    migrate: async (databaseUrl) => void (await migrateAll(databaseUrl, passwords)),
    async start({ databaseUrl, nats, redis }) {
      const topology = await startTopology("single", {
        databaseUrl,
        natsUrl: nats.url,
        redisUrl: redis.url,
        logins: loginsAt({ nats: nats.urls, redis: redis.urls, postgres: roleUrls(databaseUrl, passwords) }),
        port: 0,
        dataDir: folder,
        allowedTargets: [new URL(receiver.url).host],
        targetCaFile,
        log() {},
      });
      const pool = createPool({ url: databaseUrl, maxConnections: 1, applicationName: "test" });
      await provision(pool, { ...account, role: "admin" });
      await pool.end();
      const { baseUrl } = topology;
      const manage = await loginTo(baseUrl, account);
      if (!manage) throw new Error("the administrator cannot log in");
      let stopped: Promise<void> | undefined;
      const stop = () => {
        stopped ??= topology.stop();
        return stopped;
      };
      return {
        baseUrl,
        manage,
        stop,
        async fetch(path, init) {
          const response = await fetch(`${baseUrl}${path}`, { signal: AbortSignal.timeout(60_000), ...init });
          const text = await response.text();
          return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : { text } };
        },
        [Symbol.asyncDispose]: stop,
      };
    },
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  };
}
