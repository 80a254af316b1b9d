import { copyFile, mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { removeDataFolder } from "@toolgate/local-servers/data-folder";
import { startNats } from "@toolgate/local-servers/nats-and-redis";
import { freePort, openPorts } from "@toolgate/local-servers/ports";
import { findPrograms, programFolders } from "@toolgate/local-servers/programs";
import { ADMIN, accountsOf } from "@toolgate/local-servers/server-accounts";
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
  const { nats: binary } = await findPrograms(["nats"], {
    folders: () => programFolders(process.env.PATH),
    install: async () => false,
    clusterMajor: undefined,
    log: console.log,
  });
  if (!binary) throw new Error("there is no nats-server here");
  const users = natsUsers();
  const folders = Array.from({ length: size }, (_, index) => join(dataDir, String(index)));
  const [first = dataDir, ...others] = folders;
  await accountsOf(first, [ADMIN, ...users.map(({ name }) => name)]);
  for (const folder of others) {
    await mkdir(folder);
    await copyFile(join(first, "accounts.json"), join(folder, "accounts.json"));
  }
  const all: number[] = [];
  for (const _ of folders) all.push(await freePort(all));
  const servers: LocalServer[] = [];
  for (const [index, folder] of folders.entries()) {
    const ports = openPorts(join(dataDir, "ports.json"), all);
    const cluster = { own: all[index] as number, all };
    servers.push(await startNats({ binary, folder, ports, users, cluster }));
  }
  const urls = Object.fromEntries(
    [ADMIN, ...users.map(({ name }) => name)].map((name) => [
      name,
      servers.map((server) => server.urls[name]).join(","),
    ]),
  );
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
