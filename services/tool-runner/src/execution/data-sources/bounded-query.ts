import pg from "pg";

interface Wire {
  sync(): void;
}

/** The part of pg's query that its types leave out. */
interface OpenQuery extends pg.Submittable {
  _accumulateRows: boolean;
  on(event: "row", listener: (row: Record<string, unknown>) => void): void;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Wire): void;
  handleEmptyQuery(connection: Wire): void;
  handleError(error: Error, connection: Wire): void;
}

type Done = (error: Error | undefined, result: pg.QueryResult) => void;

const Query = pg.Query as unknown as new (config: object, done: Done) => OpenQuery;

/** Requests one row more than wanted, in one request, and drops that row. Keeps none. */
class BoundedQuery extends Query {
  more = false;
  #rowsLeft: number;
  #synced = false;

  constructor(config: { text: string; values: unknown[] }, maxRows: number, done: Done) {
    super({ ...config, rows: maxRows + 1 }, done);
    this.#rowsLeft = maxRows;
  }

  override handleRowDescription(message: unknown) {
    super.handleRowDescription(message);
    this._accumulateRows = false;
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
 * Runs exactly one statement, in a transaction that the caller has begun. Passes at most `maxRows` rows to `onRow` as they
 * arrive, and returns whether there were more: the others are not fetched, and in that case a writing statement may not
 * have completed. An error that `onRow` throws ends a `ForeignClient`'s connection.
 */
export function queryBounded(
  client: Pick<pg.ClientBase, "query">,
  config: { text: string; values: unknown[] },
  maxRows: number,
  onRow: (row: Record<string, unknown>) => void,
): Promise<{ rowCount: number | null; more: boolean }> {
  return new Promise((resolve, reject) => {
    const query: BoundedQuery = new BoundedQuery(config, maxRows, (error, result) =>
      error ? reject(error) : resolve({ rowCount: result.rowCount, more: query.more }),
    );
    query.on("row", onRow);
    client.query(query);
  });
}
