import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { connectRedis, untilReady } from "@toolgate/epoch/redis";
import { connectBus } from "@toolgate/event-bus/connect";
import { NEEDS, readConfig } from "@toolgate/key-auth/config";
import { createPool } from "@toolgate/postgres/pool";
import { openConnections } from "@toolgate/service-host/connections";
import { createLogger } from "@toolgate/service-host/process/logger";
import { withCaFile } from "@toolgate/service-host/server-addresses";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EncryptedServers, startEncryptedServers } from "./encrypted-servers.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

let servers: EncryptedServers;
let urls: Record<string, string>;
beforeAll(async () => {
  servers = await startEncryptedServers();
  urls = await variablesIn("key-auth");
});
afterAll(() => servers[Symbol.asyncDispose]());

async function variablesIn(user: string): Promise<Record<string, string>> {
  const text = await readFile(join(servers.logins, `${user}.env`), "utf8");
  return Object.fromEntries(
    text
      .trim()
      .split("\n")
      .map((line) => line.split(/=(.*)/s).slice(0, 2)),
  );
}

/** What a command prints, run with these variables and nothing else. */
async function run(command: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, command.split(" "), { cwd: ROOT, env });
  return stdout;
}

/** Connects to one server and uses it. */
const CONNECT: Record<string, (url: string, caFile: string) => Promise<unknown>> = {
  async DATABASE_URL(url, caFile) {
    const pool = createPool({ url: withCaFile(url, caFile), maxConnections: 1, applicationName: "test" });
    try {
      const { rows } = await pool.query("select ssl from pg_stat_ssl where pid = pg_backend_pid()");
      expect(rows).toEqual([{ ssl: true }]);
    } finally {
      await pool.end();
    }
  },
  async REDIS_URL(url, caFile) {
    const redis = connectRedis({ url, caFile, name: "test", onError() {} });
    try {
      await untilReady(redis, 5_000);
      expect(await redis.get("toolgate:login:none")).toBeNull();
    } finally {
      redis.disconnect();
    }
  },
  async NATS_URL(url, caFile) {
    await using bus = await connectBus({ servers: url, caFile, name: "test" });
    await bus.nc.flush();
    expect(bus.nc.info?.tls_required).toBe(true);
  },
};
const REFUSED = /self.signed certificate|unable to (verify|get)|certificate signature failure|UNABLE_TO_GET_ISSUER/i;

describe("servers that take only encrypted connections", () => {
  test("the commands of the installation and a service work with the authority in SERVERS_CA_FILE", async () => {
    const env = { ...(await variablesIn("toolgate")), SERVERS_CA_FILE: servers.caFile };
    await run("deploy/installation/src/migrate-main.ts", { ...env, LOGINS: servers.logins });
    await run("services/key-auth/src/admin.ts workspace create encrypted", env);
    const own = { ...urls, SERVERS_CA_FILE: servers.caFile };
    expect(await run("services/key-auth/src/admin.ts workspace list", own)).toBe("encrypted\n");
    await using resources = new AsyncDisposableStack();
    const log = createLogger({ service: "test", level: "silent" });
    const sealed = { SEALING_KEYS: `1:${Buffer.alloc(32).toString("base64")}` };
    await openConnections({ name: "key-auth", needs: NEEDS, log }, readConfig({ ...own, ...sealed }), resources);
  });

  test.each(Object.keys(CONNECT))(
    "%s: the right authority is accepted, and no other, nor the public ones alone",
    async (name) => {
      const tryWith = (caFile: string) => CONNECT[name]?.(urls[name] ?? "", caFile);
      await tryWith(servers.caFile);
      await expect(tryWith(servers.otherCaFile)).rejects.toThrow(REFUSED);
      await expect(tryWith("")).rejects.toThrow(REFUSED);
    },
  );

  test.each(Object.keys(CONNECT))("%s: a certificate for another host is refused", async (name) => {
    const url = (urls[name] ?? "").replace("localhost", "127.0.0.1");
    await expect(CONNECT[name]?.(url, servers.caFile)).rejects.toThrow(/does not match certificate|altnames/);
  });

  test.each([
    ["DATABASE_URL", "?sslmode=verify-full", ""],
    ["REDIS_URL", "rediss://", "redis://"],
  ])("%s: without encryption nobody gets in", async (name, encrypted, plain) => {
    const url = (urls[name] ?? "").replace(encrypted, plain);
    await expect(CONNECT[name]?.(url, servers.caFile)).rejects.toThrow();
  });
});
