import { runDailyJob } from "@toolgate/service-host/connections";
import { maintainPartitions, pruneAuditLog } from "./events/daily-job.ts";

await runDailyJob("key-auth", async (pool, now) => {
  const dropped = await maintainPartitions(pool, now);
  await pruneAuditLog(pool, now);
  return dropped;
});
