import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "@toolgate/testbed/eventually";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { expect, test } from "vitest";
import { postgresAccount } from "../src/account.ts";
import { startNats, startRedis } from "../src/nats-and-redis.ts";
import { openPorts, type Ports } from "../src/ports.ts";
import { startPostgres } from "../src/postgres.ts";
import { isAlive, readPid } from "../src/process-table.ts";
import { findPrograms } from "../src/programs.ts";
import { startShellServer } from "./shell-server.ts";

const NAMES = ["postgres", "nats", "redis"] as const;

async function startOne(name: (typeof NAMES)[number], settings: { ports: Ports; folder: string }) {
  const binary = (await findPrograms([name]))[name];
  if (name === "nats") return startNats({ ...settings, binary, users: [] });
  if (name === "redis") return startRedis({ ...settings, binary, users: [] });
  return startPostgres({ ...settings, binary, account: await postgresAccount(), durable: false });
}

test.each(NAMES)("%s does not mistake another server on its port for itself", async (name) => {
  const [folder, copy] = [await temporaryFolder(), await temporaryFolder()];
  await using first = await startOne(name, {
    ports: openPorts(join(folder, "ports.json")),
    folder: join(folder, name),
  });
  const taken = Number(new URL(first.url).port);
  // The other server accepts this one's password, as it would in a copy of the whole folder.
  await mkdir(join(copy, name));
  if (name === "postgres") await cp(join(folder, name, "passwords.json"), join(copy, name, "passwords.json"));
  const own = openPorts(join(copy, "ports.json"));
  let isFirst = true;
  const ports = {
    forget: own.forget,
    async take(server: string) {
      const port = isFirst ? taken : await own.take(server);
      isFirst = false;
      return port;
    },
  };
  await using second = await startOne(name, { ports, folder: join(copy, name) });
  expect(Number(new URL(second.url).port)).not.toBe(taken);
  expect(isAlive(second.pid)).toBe(true);
});

test("a response counts only while the process itself runs: another one may have its port", async () => {
  const start = startShellServer("echo $$ > pid; echo the port is taken >&2; exit 1", (pidFile) =>
    eventually(async () => !isAlive((await readPid(pidFile)) ?? process.pid)),
  );
  await expect(start).rejects.toThrow(/redis did not start \(exit code 1\).*\nthe port is taken/);
});
