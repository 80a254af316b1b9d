import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "@toolgate/testbed/eventually";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { expect, test } from "vitest";
import { postgresAccount } from "../src/account.ts";
import { programFolders } from "../src/binary.ts";
import { startNats } from "../src/nats.ts";
import { openPortBook, type PortBook } from "../src/port-book.ts";
import { startPostgres } from "../src/postgres.ts";
import { isAlive, readPid } from "../src/process-table.ts";
import { startRedis } from "../src/redis.ts";
import { startServer } from "../src/server-process.ts";
import { findPrograms } from "../src/server-programs.ts";

const NAMES = ["postgres", "nats", "redis"] as const;

async function startOne(name: (typeof NAMES)[number], settings: { ports: PortBook; folder: string }) {
  const folders = () => programFolders(process.env.PATH);
  const { postgres, nats, redis } = await findPrograms([name], { folders, install: async () => false, log() {} });
  if (nats) return startNats({ ...settings, binary: nats });
  if (redis) return startRedis({ ...settings, binary: redis.path });
  return startPostgres({ ...settings, binary: postgres?.path ?? "", account: await postgresAccount(), durable: false });
}

test.each(NAMES)("%s does not take the answer of another server on its port for its own", async (name) => {
  const [folder, copy] = [await temporaryFolder(), await temporaryFolder()];
  await using first = await startOne(name, {
    ports: openPortBook(join(folder, "ports.json")),
    folder: join(folder, name),
  });
  const taken = Number(new URL(first.url).port);
  // As in a copy of the whole folder: the other server would let it in.
  await mkdir(join(copy, name));
  if (name === "postgres") await cp(join(folder, name, "passwords.json"), join(copy, name, "passwords.json"));
  const book = openPortBook(join(copy, "ports.json"));
  let isFirst = true;
  const ports = {
    forget: book.forget,
    async take(server: string) {
      const port = isFirst ? taken : await book.take(server);
      isFirst = false;
      return port;
    },
  };
  await using second = await startOne(name, { ports, folder: join(copy, name) });
  expect(Number(new URL(second.url).port)).not.toBe(taken);
  expect(isAlive(second.pid)).toBe(true);
});

test("an answer counts only while the own process lives: another one may have its port", async () => {
  const folder = await temporaryFolder();
  const start = startServer({
    name: "redis",
    ports: openPortBook(join(folder, "ports.json")),
    command: "/bin/sh",
    cwd: folder,
    identity: folder,
    pidFile: join(folder, "pid"),
    logFile: join(folder, "server.log"),
    stopSignal: "SIGTERM",
    arguments: () => ["-c", "echo $$ > pid; echo the port is taken >&2; exit 1"],
    ready: () => eventually(async () => !isAlive((await readPid(join(folder, "pid"))) ?? process.pid)),
    url: () => "",
  });
  await expect(start).rejects.toThrow(/redis did not start \(exit code 1\).*\nthe port is taken/);
});
