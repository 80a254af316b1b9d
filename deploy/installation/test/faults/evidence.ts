import { createHmac } from "node:crypto";
import type { Pool } from "@toolgate/postgres/pool";
import type { ReceivedRequest } from "@toolgate/testbed/behaviour";
import { RAN, type Site } from "./site.ts";

/** The requests that the receivers got, in the forms that are counted. */
export interface Arrivals {
  /** How often each delivery arrived and got a 2xx, by its id. */
  deliveries: Map<string, number>;
  /** Event ids by the call that caused them, for each endpoint and event type. */
  events: Map<string, Map<number, Set<string>>>;
  /** Requests whose signature does not match their bytes. */
  forged: number;
  /** When anything arrived, in order. */
  timesMs: number[];
  /** How often the tool of the hooks has run, by the number of the call. */
  runs: Map<number, number>;
}

/**
 * Verifies requests exactly as the documentation says. A request whose connection broke before the response counts as a
 * 2xx, because its receiver may have acted on it.
 */
export function readArrivals(requests: readonly ReceivedRequest[], { secrets, refused }: Site): Arrivals {
  const arrivals: Arrivals = { deliveries: new Map(), events: new Map(), forged: 0, timesMs: [], runs: new Map() };
  for (const request of requests) {
    if (request.path.startsWith(RAN)) {
      count(arrivals.runs, Number(request.path.slice(RAN.length)));
      continue;
    }
    arrivals.timesMs.push(request.receivedAtMs);
    if (!isSigned(request, secrets.get(request.path) ?? "")) {
      arrivals.forged += 1;
      continue;
    }
    if (refused.has(request)) continue;
    const { id, type, n } = readEvent(request.body);
    count(arrivals.deliveries, String(request.headers["x-service-delivery"]));
    const ofPlace = entry(arrivals.events, `${request.path} ${type}`, () => new Map<number, Set<string>>());
    entry(ofPlace, n, () => new Set<string>()).add(id);
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

function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

/** Rows of the logs, from the database. */
export interface LoggedRows {
  /** The statuses in the usage log, by request id. */
  usage: Map<string, number[]>;
  /** Runs from outside by the number of their call. */
  runs: Map<number, { rows: number; succeeded: number }>;
  /** Deliveries of hooks by the number of their call. */
  hooks: Map<number, { id: string; status: string; runs: number }[]>;
}

export async function readLogs(pool: Pool): Promise<LoggedRows> {
  const usage = await pool.query(
    "select request_id, array_agg(status) as statuses from key_auth.api_key_requests group by 1",
  );
  const runs = await pool.query(
    `select (args ->> 'n')::int as n, count(*)::int as rows, count(*) filter (where success)::int as succeeded
     from tool_runner.executions where parent_id is null group by 1`,
  );
  const hooks = await pool.query(
    "select id, status, runs, substring(external_id from 'call-(.*)')::int as n from inbound_hook.delivery",
  );
  return {
    usage: new Map(usage.rows.map(({ request_id, statuses }) => [request_id, statuses])),
    runs: new Map(runs.rows.map(({ n, rows, succeeded }) => [n, { rows, succeeded }])),
    hooks: Map.groupBy(hooks.rows, ({ n }) => n),
  };
}
