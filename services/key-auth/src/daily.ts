import { runDailyJob } from "@toolgate/service-host/connections";
import { keepPartitions, pruneAuditLog } from "./events/upkeep.ts";

await runDailyJob("key-auth", async (pool, now) => {
  const dropped = await keepPartitions(pool, now);
  await pruneAuditLog(pool, now);
  return dropped;
});
