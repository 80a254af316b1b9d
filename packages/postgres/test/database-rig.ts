import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { createPool, type Pool, type PoolOptions } from "../src/pool.ts";

export interface DatabaseRig extends AsyncDisposable {
  url: string;
  pool: Pool;
  idleErrors: Error[];
  /** Another pool on the same database; ended with the rig. */
  another(options?: Partial<PoolOptions>): Pool;
}

/** An empty database with a pool. */
export async function databaseRig(): Promise<DatabaseRig> {
  await using resources = new AsyncDisposableStack();
  const { url } = resources.use(await testDatabase());
  const idleErrors: Error[] = [];
  const owned = resources.move();
  const another = (options: Partial<PoolOptions> = {}) =>
    owned.adopt(
      createPool({
        url,
        maxConnections: 4,
        applicationName: "test",
        onIdleError: (error) => idleErrors.push(error),
        ...options,
      }),
      (pool) => pool.end(),
    );
  return { url, pool: another(), idleErrors, another, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
