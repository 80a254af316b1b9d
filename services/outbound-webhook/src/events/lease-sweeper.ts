import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import { expiredGroups, expireStatements } from "@toolgate/postgres/fair-queue/settle";
import type { Pool } from "@toolgate/postgres/pool";

const ITEMS_PER_SWEEP = 500;
/** After a pause of this service or the database, the results that lie ready come first. */
const RESULTS_FIRST_MS = 3_000;

/** Returns deliveries whose lease has run out to the queue. Resolves with how many. */
export async function sweepLeases(pool: Pool, queue: FairQueue, now: Date): Promise<number> {
  const [found] = await pipelined(pool, [expiredGroups(queue.schema, now, ITEMS_PER_SWEEP)]);
  const groups: string[] = found?.rows.map((row) => row.group_id) ?? [];
  if (groups.length === 0) return 0;
  const again = new Date(now.getTime() + RESULTS_FIRST_MS);
  const results = await pipelined(pool, expireStatements(queue, groups, now, ITEMS_PER_SWEEP, again));
  return results.at(-1)?.rows[0].items ?? 0;
}
