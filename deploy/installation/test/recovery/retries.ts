import { createPool } from "@toolgate/postgres/pool";
import { eventually } from "@toolgate/testbed/eventually";

/** Waits until a delivery that failed once waits for its second attempt. */
export async function untilRetryWaits(url: string): Promise<void> {
  const waiting = "select from outbound_webhook.queue_item where attempt = 2 and lease_until is null";
  await eventually(async () => (await rowsOf(url, waiting)) > 0, { deadlineMs: 60_000, everyMs: 100 });
}

/** As if the wait before the next attempt had passed. */
export async function makeRetriesDue(url: string): Promise<void> {
  await rowsOf(url, "update outbound_webhook.queue_item set due_at = now()");
  for (const table of ["queue_member", "queue_group"])
    await rowsOf(url, `update outbound_webhook.${table} set ready_at = now()`);
}

/** The number of rows that a statement returns or changes. */
export async function rowsOf(url: string, statement: string): Promise<number> {
  const pool = createPool({ url, maxConnections: 1, applicationName: "test" });
  try {
    return (await pool.query(statement)).rowCount ?? 0;
  } finally {
    await pool.end();
  }
}
