import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { keepSigningKeys } from "../login/signing-keys.ts";
import { keepPartitions } from "./daily-partitions.ts";
import { pruneAuditLog } from "./prune-audit-log.ts";

/** [LOG-9] What is due from time to time; safe to repeat, on any replica. */
export async function keepUp(pool: Pool, box: SecretBox, now: Date): Promise<void> {
  await keepPartitions(pool, now);
  await keepSigningKeys(pool, box, now);
  await pruneAuditLog(pool, now);
}
