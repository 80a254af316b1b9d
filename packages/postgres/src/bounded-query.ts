import pg from "pg";

interface Wire {
  sync(): void;
}

/** The part of pg's query that its types leave out. */
interface OpenQuery extends pg.Submittable {
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Wire): void;
  handleEmptyQuery(connection: Wire): void;
  handleError(error: Error, connection: Wire): void;
}

type Done = (error: Error | undefined, result: pg.QueryResult) => void;

const Query = pg.Query as unknown as new (config: object, done: Done) => OpenQuery;

/** Requests one row more than wanted, in one request, and drops that row. */
class BoundedQuery extends Query {
  more = false;
  #rowsLeft: number;
  #synced = false;

  constructor(config: { text: string; values: unknown[] }, maxRows: number, done: Done) {
    super({ ...config, rows: maxRows + 1 }, done);
    this.#rowsLeft = maxRows;
  }

  override handleDataRow(message: unknown) {
    this.#rowsLeft -= 1;
    if (this.#rowsLeft >= 0) super.handleDataRow(message);
    else this.more = true;
  }

  handlePortalSuspended(connection: Wire) {
    this.more = true;
    this.#sync(connection);
  }

  override handleCommandComplete(message: unknown, connection: Wire) {
    super.handleCommandComplete(message, { sync: () => this.#sync(connection) });
  }

  override handleEmptyQuery(connection: Wire) {
    super.handleEmptyQuery({ sync: () => this.#sync(connection) });
  }

  override handleError(error: Error, connection: Wire) {
    // A query with a row limit has not sent its sync yet, and the server waits for it.
    this.#sync(connection);
    super.handleError(error, connection);
  }

  #sync(connection: Wire) {
    if (this.#synced) return;
    this.#synced = true;
    connection.sync();
  }
}

/**
 * Runs exactly one statement, in a transaction that the caller has begun. Returns at most `maxRows` rows, and whether
 * there were more: the others are not fetched, and in that case a writing statement may not have completed.
 */
export function queryBounded(
  client: Pick<pg.ClientBase, "query">,
  config: { text: string; values: unknown[] },
  maxRows: number,
): Promise<pg.QueryResult & { more: boolean }> {
  return new Promise((resolve, reject) => {
    const query: BoundedQuery = new BoundedQuery(config, maxRows, (error, result) =>
      error ? reject(error) : resolve(Object.assign(result, { more: query.more })),
    );
    client.query(query);
  });
}
