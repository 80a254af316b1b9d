import pg from "pg";

export type Pool = pg.Pool;
export type Client = pg.PoolClient;

/** Runs statements: the pool itself, or the client of a transaction. */
export type Queryable = Pick<pg.ClientBase, "query">;

export interface PoolOptions {
  /** postgres://user:password@host:port/database */
  url: string;
  maxConnections: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** How long a statement waits for a connection while all are in use. Default 10 s. */
  waitMs?: number;
  /** How long a new connection may take. Default 10 s. */
  connectTimeoutMs?: number;
  /** Longest time that a statement may run. Default 30 s. */
  statementTimeoutMs?: number;
  /** Called with the error of a connection that broke while idle; the pool replaces it. */
  onIdleError?: (error: Error) => void;
}

/**
 * A login with a password takes pg a dozen turns of the event loop and of its threads, so on a busy machine more than 5 s may
 * pass although the server answers at once. Shorter than the deadlines of RPCs (15 s) and the leases of hooks' runs (30 s).
 */
const CONNECT_TIMEOUT_MS = 10_000;
/** For work that is done once, and that nobody repeats when it fails. */
const PATIENT_MS = 30_000;
const IDLE_TIMEOUT_MS = 60_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** After this time an idle transaction is ended, which releases its locks. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_DELAY_MS = 10_000;
const INT8 = 20;

/** bigint as a number: exact below 2^53. */
export const BIGINT_AS_NUMBER: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format: "text" | "binary") =>
    oid === INT8 && format !== "binary"
      ? Number
      : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** What a pool gives each client. */
type ConnectingConfig = pg.ClientConfig & { connectTimeoutMs: number };

/** Gives connecting a timeout of its own: the pool's covers waiting too, and may be much longer. */
class ConnectingClient extends pg.Client {
  constructor({ connectTimeoutMs, ...config }: ConnectingConfig) {
    super({ ...config, connectionTimeoutMillis: connectTimeoutMs });
    // A connection may break between two statements, and even before its borrower could add a listener: without one, the
    // process would crash. The pool replaces the client, because it takes no more statements.
    this.on("error", () => {});
  }

  // biome-ignore lint/suspicious/noExplicitAny: passes on what pg's overloads of `query` take and return.
  override query(...args: any[]): any {
    const [statement, values] = args;
    const isOwn = typeof args.at(-1) === "function" || typeof statement?.submit === "function";
    return isOwn ? Reflect.apply(super.query, this, args) : this.#promise(statement, values);
  }

  /**
   * For such a statement pg itself assigns a callback to a property. V8 puts a function that is assigned to a property into
   * the old generation at once, and what it refers to, parameters and rows, stays there until the next major collection.
   */
  async #promise(statement: string, values: unknown[]): Promise<pg.QueryResult> {
    try {
      return await new Promise((resolve, reject) => {
        super.query(statement, values, (error, result) => (error ? reject(error) : resolve(result)));
      });
    } catch (error) {
      // As pg does: a stack that leads to the caller instead of the socket.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw error;
    }
  }
}

/**
 * A connection pool. bigint comes back as a number: every bigint of this project is an identity, a count or milliseconds,
 * all below 2^53.
 */
export function createPool(options: PoolOptions): Pool {
  const config: pg.PoolConfig & ConnectingConfig = {
    connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    Client: ConnectingClient as unknown as new () => pg.ClientBase,
    connectionString: options.url,
    max: options.maxConnections,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.waitMs ?? CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    types: BIGINT_AS_NUMBER,
  };
  const pool = new pg.Pool(config);
  pool.on("error", (error) => {
    // While it ends, a server that is stopped as well closes the connections.
    if (!pool.ending) options.onIdleError?.(error);
  });
  return pool;
}

/** Runs `work` with a pool of one connection, which is closed afterwards. */
export async function withPool<T>(url: string, applicationName: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const patience = { waitMs: PATIENT_MS, connectTimeoutMs: PATIENT_MS };
  const pool = createPool({ url, maxConnections: 1, applicationName, ...patience });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/**
 * Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. Also rejects when `work`
 * resolves although one of its statements failed, because Postgres then commits nothing. A client whose rollback fails
 * (the server went down) does not go back to the pool. When the connection breaks during the commit, the outcome is
 * unknown.
 */
export function inTransaction<T>(pool: Pool, work: (client: Client) => Promise<T>): Promise<T> {
  return withClient(pool, (client, discard) => transactionOn(client, discard, () => work(client)));
}

/** As `inTransaction`, on a client that the caller has borrowed. `discard` is called when the rollback fails. */
export async function transactionOn<T>(
  client: Queryable,
  discard: (reason: Error) => void,
  work: () => Promise<T>,
): Promise<T> {
  try {
    await client.query("begin");
    const result = await work();
    const { command } = await client.query("commit");
    if (command !== "COMMIT") throw new Error("nothing was committed: a statement of the transaction had failed");
    return result;
  } catch (error) {
    await client.query("rollback").catch(discard);
    throw error;
  }
}

/**
 * Runs `work` with a client of the pool. The client returns to the pool unless its connection broke or `work` called
 * `discard`.
 */
export async function withClient<T>(
  pool: Pool,
  work: (client: Client, discard: (reason: Error) => void) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const discard = (reason: Error) => {
    broken = reason;
  };
  try {
    return await work(client, discard);
  } finally {
    client.release(broken);
  }
}
