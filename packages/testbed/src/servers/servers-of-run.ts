import { inject } from "vitest";

/** The servers that all tests of a run use; `runFolder` contains all data of the run and is removed after it. */
type ServersOfRun = {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly redisUrl: string;
  readonly runFolder: string;
};

declare module "vitest" {
  interface ProvidedContext {
    serversOfRun: ServersOfRun;
  }
}

/**
 * The addresses of the PostgreSQL, NATS and Redis of this test run. All tests share their streams, keys and databases: use
 * `testDatabase`, and `testNats` or `testRedis` when a test needs its own server.
 */
export function serversOfRun(): ServersOfRun {
  return inject("serversOfRun");
}
