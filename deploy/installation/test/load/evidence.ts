import { createHmac } from "node:crypto";
import type { Pool } from "@toolgate/postgres/pool";
import type { ReceivedRequest } from "@toolgate/testbed/behaviour";
import { type LoadWorkspace, RAN } from "./workspace.ts";

/** The requests that the receiver got, in the forms that are counted. */
export interface Arrivals {
  /** The event id of each arrival that got a 2xx, by path, event type and number of the call that caused it. */
  events: Map<string, string[]>;
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
export function readArrivals(requests: readonly ReceivedRequest[], { secrets, refused }: LoadWorkspace): Arrivals {
  const arrivals: Arrivals = { events: new Map(), forged: 0, timesMs: [], runs: new Map() };
  for (const request of requests) {
    const { path, headers, body, receivedAtMs } = request;
    if (path.startsWith(RAN)) {
      const n = Number(path.slice(RAN.length));
      arrivals.runs.set(n, (arrivals.runs.get(n) ?? 0) + 1);
    }
    if (headers["x-service-delivery"] === undefined) continue;
    arrivals.timesMs.push(receivedAtMs);
    if (!isSigned(request, secrets.get(path) ?? "")) arrivals.forged += 1;
    else if (!refused.has(request)) {
      const { id, type, n } = readEvent(body);
      const event = `${path} ${type} ${n}`;
      arrivals.events.set(event, [...(arrivals.events.get(event) ?? []), id]);
    }
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

/** Rows of the logs, from the database. */
export interface LoggedRows {
  /** The statuses in the usage log, by request id. */
  usage: Map<string, number[]>;
  /** Runs of numbered calls from outside. */
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
     from tool_runner.executions where parent_id is null and args ->> 'n' is not null group by 1`,
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
