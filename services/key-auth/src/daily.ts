import { runDailyJob } from "@toolgate/service-host/connections";
import { keepPartitions } from "./events/daily-partitions.ts";
import { pruneAuditLog } from "./events/prune-audit-log.ts";

await runDailyJob("key-auth", async (pool, now) => {
  const dropped = await keepPartitions(pool, now);
  await pruneAuditLog(pool, now);
  return dropped;
});
