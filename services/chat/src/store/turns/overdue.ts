import type { Pool } from "@toolgate/postgres/pool";
import { MAX_WAIT_MS } from "../../domain/turn.ts";
import type { Lane } from "../queue.ts";

/** What something must be done about although nobody announces it. */
interface Overdue {
  /** Those in which a turn has an expired lease. */
  lanes: Lane[];
  /** Whether a turn has waited too long for those before it. */
  waiting: boolean;
  /** Whether a chat that was reset still has rows to be deleted. */
  resets: boolean;
}

const LOOK = `select
  array(select distinct lane from chat.turn where status = 'running' and lease_until < $1) as lanes,
  exists (select from chat.turn where status = 'waiting' and created_at < $2) as waiting,
  exists (select from chat.unfinished_reset) as resets`;

/** One statement for all, because there is nearly always nothing. */
export async function lookForOverdue(pool: Pool, now: Date): Promise<Overdue> {
  const values = [now, new Date(now.getTime() - MAX_WAIT_MS)];
  const { rows } = await pool.query({ name: "overdue_turns", text: LOOK, values });
  return rows[0];
}
