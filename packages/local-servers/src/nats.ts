import { createHash } from "node:crypto";
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Binary, reaches } from "./binary.ts";
import { firstAnswer } from "./first-answer.ts";
import type { LocalServer } from "./local-server.ts";
import type { PortBook } from "./port-book.ts";
import { startServer } from "./server-process.ts";

const MAX_MEMORY_STORE = "128MB";
const NAME_HASH_LENGTH = 12;
const SYNC_INTERVAL_SINCE = { major: 2, minor: 10 };

export type NatsSettings = {
  readonly binary: Binary;
  /** Folder for the configuration, the JetStream store and the log. */
  readonly folder: string;
  readonly ports: PortBook;
  readonly signal?: AbortSignal;
};

/**
 * Starts nats-server with JetStream on loopback. It acknowledges a message once the operating system has it, so a
 * killed server loses nothing; a machine that loses power may lose what was not yet flushed to the disk: one second
 * from 2.10 on, while 2.9 has no setting for it.
 */
export async function startNats(settings: NatsSettings): Promise<LocalServer> {
  await mkdir(settings.folder, { recursive: true, mode: 0o700 });
  const folder = await realpath(settings.folder);
  const configFile = join(folder, "nats.conf");
  const pidFile = join(folder, "nats.pid");
  return startServer(
    {
      name: "nats",
      ports: settings.ports,
      command: settings.binary.path,
      cwd: folder,
      identity: configFile,
      pidFile,
      logFile: join(folder, "server.log"),
      stopSignal: "SIGTERM",
      async arguments(port) {
        await writeFile(configFile, configuration(port, folder, pidFile, settings.binary), { mode: 0o600 });
        return ["--config", configFile];
      },
      async ready(port) {
        const answer = await firstAnswer(port, "");
        return answer.includes(`"server_name":"${serverName(folder)}"`) && answer.includes('"jetstream":true');
      },
      url: (port) => `nats://127.0.0.1:${port}`,
    },
    settings.signal,
  );
}

// Told to every client, so that an answer can be known as this folder's server's.
function serverName(folder: string): string {
  return `toolgate-${createHash("sha256").update(folder).digest("hex").slice(0, NAME_HASH_LENGTH)}`;
}

function configuration(port: number, folder: string, pidFile: string, binary: Binary): string {
  const sync = reaches(binary.version, SYNC_INTERVAL_SINCE) ? ["  sync_interval: 1s"] : [];
  return [
    `listen: "127.0.0.1:${port}"`,
    `server_name: ${serverName(folder)}`,
    `pid_file: ${JSON.stringify(pidFile)}`,
    "jetstream {",
    `  store_dir: ${JSON.stringify(join(folder, "store"))}`,
    `  max_memory_store: ${MAX_MEMORY_STORE}`,
    ...sync,
    "}",
    "",
  ].join("\n");
}
