import { createEpochs } from "@toolgate/epoch/epoch";
import { connectRedis, untilReady } from "@toolgate/epoch/redis";
import { assertMigrated } from "@toolgate/postgres/migrate";
import { createPool } from "@toolgate/postgres/pool";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { operatorCommand } from "./command.ts";

interface OperatorCommandLine {
  argv: string[];
  config: () => { databaseUrl: string; redisUrl: string; serversCaFile?: string };
  /** All of standard input. */
  readInput: () => Promise<string>;
  print: (line: string) => void;
  printError: (line: string) => void;
}

const REDIS_DEADLINE_MS = 5_000;

/** Runs one command on its own connections. Returns the exit code. */
export async function runAsOperator({
  argv,
  config,
  readInput,
  print,
  printError,
}: OperatorCommandLine): Promise<number> {
  try {
    const command = operatorCommand(argv);
    const { databaseUrl, redisUrl, serversCaFile: caFile = "" } = config();
    await using resources = new AsyncDisposableStack();
    const pool = resources.adopt(
      createPool({ url: databaseUrl, maxConnections: 1, applicationName: "key-auth admin" }),
      (owned) => owned.end(),
    );
    await assertMigrated({ pool, ...migrationsOf("key-auth") });
    const redis = resources.adopt(
      connectRedis({ url: redisUrl, caFile, name: "key-auth-admin", onError: () => {} }),
      (owned) => owned.disconnect(),
    );
    await untilReady(redis, REDIS_DEADLINE_MS);
    const readPassword = async () => (await readInput()).replace(/\r?\n$/, "");
    print(await command({ pool, epochs: createEpochs(redis), readPassword, now: () => new Date() }));
    return 0;
  } catch (error) {
    printError((error as Error).message);
    return 1;
  }
}
