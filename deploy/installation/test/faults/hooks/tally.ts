import type { Pool } from "@toolgate/postgres/pool";
import type { ReceivedRequest } from "@toolgate/testbed/behaviour";
import type { SentCall } from "./senders.ts";

/** A delivery as it is stored. */
interface StoredDelivery {
  id: string;
  status: string;
  runs: number;
}

/** What a fault run has left, by the numbers of the calls. */
export interface HookEvidence {
  stored: Map<number, StoredDelivery[]>;
  /** When the tool told the outside that it runs. */
  ran: Map<number, number[]>;
}

export interface HookFault {
  victim: string;
  killedAtMs: number;
  backAtMs: number;
}

/** What the faults of one victim cost. */
export interface HookCosts {
  victim: string;
  kills: number;
  calls: number;
  /** Requests with a 5xx or without a response, which their senders repeated. */
  repeated: number;
  stored: number;
  ranOnce: number;
  /** Failed, with the reason in the log: the tool's service was killed during the run. */
  failed: number;
  interrupted: number;
  /** Calls that the sender was told are accepted, and that are not stored. */
  lost: number;
  /** Calls that are stored several times, or whose tool ran several times. */
  twice: number;
  /** Stored calls that did not run although the log says so, or that have not ended. */
  untraced: number;
  /** For each kill: from the kill until the victim took work again. */
  downMs: number[];
  /** For each kill: from the kill until the first accepted call that was made after it. */
  acceptingMs: number[];
  /** For each kill: from the kill until the tool ran for the first call that was made after it. */
  runningMs: number[];
}

export async function readEvidence(pool: Pool, requests: readonly ReceivedRequest[]): Promise<HookEvidence> {
  const { rows } = await pool.query(
    `select id, status, runs, substring(external_id from 'call-(.*)')::int as n from inbound_hook.delivery
     where external_id is not null`,
  );
  const ran = new Map<number, number[]>();
  for (const { path, receivedAtMs } of requests) {
    const n = Number(path.split("/").at(-1));
    ran.set(n, [...(ran.get(n) ?? []), receivedAtMs]);
  }
  return { stored: Map.groupBy(rows, ({ n }) => n as number), ran };
}

export function hookCosts(
  faults: readonly HookFault[],
  calls: readonly SentCall[],
  { stored, ran }: HookEvidence,
): HookCosts[] {
  const single = faults.map((fault, index): HookCosts => {
    const own = calls.filter(({ phase }) => phase === index + 1);
    const since = own.filter(({ sentAtMs }) => sentAtMs >= fault.killedAtMs);
    const deliveries = own.flatMap(({ n }) => stored.get(n) ?? []);
    const withStatus = (status: string) => deliveries.filter((delivery) => delivery.status === status).length;
    return {
      victim: fault.victim,
      kills: 1,
      calls: own.length,
      repeated: own.reduce((sum, { statuses }) => sum + statuses.length - 1, 0),
      stored: deliveries.length,
      ranOnce: own.filter(({ n }) => ran.get(n)?.length === 1).length,
      failed: withStatus("failed"),
      interrupted: withStatus("interrupted"),
      lost: own.filter(({ n, acceptedAtMs }) => acceptedAtMs > 0 && !stored.has(n)).length,
      twice: own.filter(({ n }) => (stored.get(n)?.length ?? 0) > 1 || (ran.get(n)?.length ?? 0) > 1).length,
      untraced: own.filter(({ n }) => (stored.get(n) ?? []).some(({ status }) => !isTraced(status, ran.get(n)))).length,
      downMs: [fault.backAtMs - fault.killedAtMs],
      acceptingMs: [Math.min(...since.map(({ acceptedAtMs }) => acceptedAtMs)) - fault.killedAtMs],
      runningMs: [Math.min(...since.flatMap(({ n }) => ran.get(n) ?? [])) - fault.killedAtMs],
    };
  });
  return [...Map.groupBy(single, ({ victim }) => victim).values()].map((parts) => parts.reduce(added));
}

function isTraced(status: string, ran: readonly number[] = []): boolean {
  return status === "succeeded" ? ran.length > 0 : ["failed", "interrupted"].includes(status);
}

/** The costs of two faults together. */
export function added(one: HookCosts, other: HookCosts): HookCosts {
  const sum = { ...one };
  for (const [name, value] of Object.entries(other) as [keyof HookCosts, unknown][]) {
    const own = one[name];
    if (typeof own === "number") Object.assign(sum, { [name]: own + (value as number) });
    else if (Array.isArray(own)) Object.assign(sum, { [name]: [...own, ...(value as number[])] });
  }
  return sum;
}
