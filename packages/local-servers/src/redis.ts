import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { firstAnswer } from "./first-answer.ts";
import type { LocalServer } from "./local-server.ts";
import type { PortBook } from "./port-book.ts";
import { startServer } from "./server-process.ts";

export type RedisSettings = {
  /** Path of the program `redis-server`. */
  readonly binary: string;
  /** Folder for the configuration, the append-only file and the log. */
  readonly folder: string;
  readonly ports: PortBook;
  readonly signal?: AbortSignal;
};

/** Starts redis-server on loopback with an append-only file, flushed to the disk every second, and no eviction. */
export async function startRedis(settings: RedisSettings): Promise<LocalServer> {
  await mkdir(settings.folder, { recursive: true, mode: 0o700 });
  const folder = await realpath(settings.folder);
  const configFile = join(folder, "redis.conf");
  const pidFile = join(folder, "redis.pid");
  return startServer(
    {
      name: "redis",
      ports: settings.ports,
      command: settings.binary,
      cwd: folder,
      identity: configFile,
      pidFile,
      logFile: join(folder, "server.log"),
      stopSignal: "SIGTERM",
      async arguments(port) {
        await writeFile(configFile, configuration(port, folder, pidFile), { mode: 0o600 });
        return [configFile];
      },
      async ready(port) {
        const answer = await firstAnswer(port, "CONFIG GET pidfile\r\nPING\r\n");
        return answer.includes(`\n${pidFile}\r`) && answer.includes("+PONG");
      },
      url: (port) => `redis://127.0.0.1:${port}`,
    },
    settings.signal,
  );
}

// The process title stays the command line, by which a leftover of a former run is recognised.
function configuration(port: number, folder: string, pidFile: string): string {
  return [
    "bind 127.0.0.1",
    `port ${port}`,
    "daemonize no",
    `pidfile ${JSON.stringify(pidFile)}`,
    "set-proc-title no",
    `dir ${JSON.stringify(folder)}`,
    "appendonly yes",
    "appendfsync everysec",
    'save ""',
    "maxmemory-policy noeviction",
    "",
  ].join("\n");
}
