import { createHmac } from "node:crypto";
import type { Pool } from "@toolgate/postgres/pool";
import type { ReceivedRequest } from "@toolgate/testbed/behaviour";

/** The requests that the receivers got, in the forms that are counted. */
export interface Arrivals {
  /** Delivery ids with the times of the arrivals that got a 2xx, in order. */
  deliveries: Map<string, number[]>;
  /** Event ids by the call that caused them, for each event type. */
  events: Map<string, Map<number, Set<string>>>;
  /** Requests whose signature does not match their bytes. */
  forged: number;
}

/**
 * Verifies requests exactly as the documentation says; `secretOf` returns the secret for a path, `refused` has the
 * requests that got a 500. A request whose connection broke before the response counts as a 2xx, because its receiver
 * may have acted on it.
 */
export function readArrivals(
  requests: readonly ReceivedRequest[],
  secretOf: ReadonlyMap<string, string>,
  refused: ReadonlySet<number>,
): Arrivals {
  const arrivals: Arrivals = { deliveries: new Map(), events: new Map(), forged: 0 };
  for (const [index, request] of requests.entries()) {
    if (!isSigned(request, secretOf.get(request.path) ?? "")) {
      arrivals.forged += 1;
      continue;
    }
    const { id, type, n } = readEvent(request.body);
    const delivery = String(request.headers["x-service-delivery"]);
    if (refused.has(index)) continue;
    entry(arrivals.deliveries, delivery, () => []).push(request.receivedAtMs);
    const ofPath = entry(arrivals.events, `${request.path} ${type}`, () => new Map<number, Set<string>>());
    entry(ofPath, n, () => new Set<string>()).add(id);
  }
  return arrivals;
}

/** An event's id and type, and the number of the call that caused it. */
export function readEvent(body: Buffer): { id: string; type: string; n: number } {
  const { id, type, data } = JSON.parse(body.toString());
  return { id, type, n: Number(type === "tool.completed" ? data.args.n : data.n) };
}

function isSigned({ headers, body }: ReceivedRequest, secret: string): boolean {
  const [, t = "", v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["x-service-signature"])) ?? [];
  return v1 === createHmac("sha256", secret).update(`${t}.`).update(body).digest("hex");
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

/** Rows of the logs, from the database. */
export interface LoggedRows {
  /** Usage rows by `<key id> <tool> <status>`. */
  usage: Map<string, number>;
  /** The keys' own counters. */
  totals: Map<string, number>;
  /** Runs from outside by the number of their call. */
  runs: Map<number, { rows: number; succeeded: number }>;
}

/** All rows of the logs, or those since a time. */
export async function readLogs(pool: Pool, since = new Date(0)): Promise<LoggedRows> {
  const usage = await pool.query(
    `select key_id || ' ' || tool || ' ' || status as name, count(*)::int as rows
     from key_auth.api_key_requests where at >= $1 group by 1`,
    [since],
  );
  const totals = await pool.query("select id, calls_total::int as total from key_auth.keys");
  const runs = await pool.query(
    `select (args ->> 'n')::int as n, count(*)::int as rows, count(*) filter (where success)::int as succeeded
     from tool_runner.executions where parent_id is null and started_at >= $1 group by 1`,
    [since],
  );
  return {
    usage: new Map(usage.rows.map(({ name, rows }) => [name, rows])),
    totals: new Map(totals.rows.map(({ id, total }) => [id, total])),
    runs: new Map(runs.rows.map(({ n, rows, succeeded }) => [n, { rows, succeeded }])),
  };
}
