import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { connectBus } from "@toolgate/event-bus/connect";
import { freePort } from "@toolgate/local-servers/ports";
import { programFolders } from "@toolgate/local-servers/programs";
import { createPool } from "@toolgate/postgres/pool";
import { eventually } from "@toolgate/testbed/eventually";
import { testRedis } from "@toolgate/testbed/servers/servers";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { loginsIn } from "../../src/logins.ts";

const REPOSITORY = fileURLToPath(new URL("../../../../", import.meta.url));
/** The one with all three servers. */
const USER = "tool-runner";
type Login = Readonly<Record<string, string>>;

/** The commands that docs/kubernetes.md gives to replace a login, in the order in which they stand there. */
async function documented(): Promise<string[]> {
  const text = await readFile(join(REPOSITORY, "docs/kubernetes.md"), "utf8");
  const [, block = ""] = /\n```sh\n(sed -i '\/\^NATS_URL.*?)```/s.exec(text) ?? [];
  return block.trim().split("\n");
}

test("the documented commands replace a service's login at all three servers, and no other login", async () => {
  const folder = await temporaryFolder();
  await using redis = await testRedis();
  await using database = await testDatabase();
  const natsPort = await freePort();
  const admin = new URL(redis.url);
  const env = {
    ...process.env,
    // nats-server may be in a folder for administrators' programs.
    PATH: programFolders().join(delimiter),
    DATABASE_URL: database.url,
    NATS_URL: `nats://127.0.0.1:${natsPort}`,
    REDIS_URL: `redis://${admin.host}`,
    REDISCLI_AUTH: admin.password,
  };
  const inFolder = (command: string) =>
    command
      .replaceAll("logins/", `${folder}/logins/`)
      .replace("LOGINS=logins", `LOGINS=${folder}/logins`)
      .replace(/ logins$/, ` ${folder}/logins`)
      .replace("-h redis", `-h ${admin.hostname} -p ${admin.port}`);
  const run = (command: string) => promisify(execFile)("sh", ["-c", inFolder(command)], { env, cwd: REPOSITORY });
  const [remove = "", make = "", migrate = "", loadRedis = "", ...rest] = await documented();
  expect([remove, rest]).toEqual([expect.stringContaining("chat.env"), []]);

  await run(make);
  await writeFile(join(folder, "nats.conf"), `listen: "127.0.0.1:${natsPort}"\ninclude "logins/nats-users.conf"\n`);
  const nats = spawn("nats-server", ["--config", join(folder, "nats.conf")], { stdio: "ignore", env });
  const ended = once(nats, "exit");
  try {
    for (const command of [migrate, loadRedis]) await run(command);
    const before = loginsIn(join(folder, "logins"));
    await eventually(async () => expect(await admits(before[USER])).toEqual([true, true, true]));
    // The administrator's is now the one of the folder.
    const administrator = await readFile(join(folder, "logins/toolgate.env"), "utf8");
    env.REDISCLI_AUTH = /^REDIS_URL=.*:([^:@]+)@/m.exec(administrator)?.[1] ?? "";

    for (const command of [remove.replace("chat.env", `${USER}.env`), make, migrate, loadRedis]) await run(command);
    nats.kill("SIGHUP");
    const after = loginsIn(join(folder, "logins"));
    await eventually(async () => expect(await admits(after[USER])).toEqual([true, true, true]));
    expect(await admits(before[USER])).toEqual([false, false, false]);
    expect({ ...after, [USER]: {} }).toEqual({ ...before, [USER]: {} });
    expect(after[USER]?.SERVICE_KEY).toBe(before[USER]?.SERVICE_KEY);
    expect(await admits(before["key-auth"])).toEqual([true, true, true]);
  } finally {
    nats.kill();
    await ended;
  }
});

/** Whether NATS, Redis and PostgreSQL admit a login. */
async function admits({ NATS_URL = "", REDIS_URL = "", DATABASE_URL = "" }: Login = {}): Promise<boolean[]> {
  const isAdmitted = (attempt: Promise<unknown>) =>
    attempt.then(
      () => true,
      () => false,
    );
  const pool = createPool({ url: DATABASE_URL, maxConnections: 1, applicationName: "test" });
  const redis = new Redis(REDIS_URL, { lazyConnect: true, retryStrategy: () => null });
  redis.on("error", () => {});
  const found = await Promise.all([
    isAdmitted(connectBus({ servers: NATS_URL, name: "test" }).then((bus) => bus[Symbol.asyncDispose]())),
    isAdmitted(redis.connect().then(() => redis.get("toolgate:epoch:workspace:1"))),
    isAdmitted(pool.query("select 1")),
  ]);
  redis.disconnect();
  await pool.end();
  return found;
}
