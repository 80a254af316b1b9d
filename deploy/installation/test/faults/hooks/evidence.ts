import type { Pool } from "@toolgate/postgres/pool";
import type { ReceivedRequest } from "@toolgate/testbed/behaviour";

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
