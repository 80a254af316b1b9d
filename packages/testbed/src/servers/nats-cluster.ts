import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { removeDataFolder } from "@toolgate/local-servers/data-folder";
import { startNats } from "@toolgate/local-servers/nats-and-redis";
import { freePort, openPorts } from "@toolgate/local-servers/ports";
import { findPrograms } from "@toolgate/local-servers/programs";
import { saveJson } from "@toolgate/local-servers/saved-json";
import { ADMIN, keptPasswords } from "@toolgate/local-servers/server-accounts";
import type { LocalServer } from "@toolgate/local-servers/server-process";
import { natsUsers } from "@toolgate/service-registry/server-users";
import { serversOfRun } from "./servers-of-run.ts";

/** Servers that form one cluster with JetStream. */
export interface TestNatsCluster extends AsyncDisposable {
  /** The addresses of all of them for the administrator, separated by commas. */
  readonly url: string;
  /** The same by user, as in `SERVER_USERS`. */
  readonly urls: Readonly<Record<string, string>>;
  readonly servers: readonly LocalServer[];
}

/** Starts as many nats-servers on loopback. JetStream responds once they have found each other, seconds later. */
export async function testNatsCluster(size: number): Promise<TestNatsCluster> {
  const dataDir = await mkdtemp(join(serversOfRun().runFolder, "nats-cluster-"));
  const { nats: binary } = await findPrograms(["nats"]);
  const users = natsUsers();
  const folders = Array.from({ length: size }, (_, index) => join(dataDir, String(index)));
  const names = [ADMIN, ...users.map(({ name }) => name)];
  const passwords = await keptPasswords(join(dataDir, "accounts.json"), names);
  for (const folder of folders) {
    await mkdir(folder);
    await saveJson(join(folder, "accounts.json"), passwords);
  }
  const all: number[] = [];
  for (const _ of folders) all.push(await freePort(all));
  const servers: LocalServer[] = [];
  for (const [index, folder] of folders.entries()) {
    const ports = openPorts(join(dataDir, "ports.json"), all);
    const cluster = { own: all[index] as number, all };
    servers.push(await startNats({ binary, folder, ports, users, cluster }));
  }
  const urls = Object.fromEntries(names.map((name) => [name, servers.map((server) => server.urls[name]).join(",")]));
  return {
    url: urls[ADMIN] ?? "",
    urls,
    servers,
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.kill()));
      await removeDataFolder(dataDir);
    },
  };
}
