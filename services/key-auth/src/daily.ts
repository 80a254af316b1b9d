import { createPool } from "@toolgate/postgres/pool";
import { createLogger } from "@toolgate/service-host/logger";
import { dailyConfig } from "./config.ts";
import { keepPartitions } from "./events/daily-partitions.ts";
import { pruneAuditLog } from "./events/prune-audit-log.ts";

const log = createLogger({ service: "key-auth daily job", level: "info" });
const pool = createPool({ ...dailyConfig(process.env), maxConnections: 1, applicationName: "key-auth daily job" });
try {
  const now = new Date();
  const dropped = await keepPartitions(pool, now);
  await pruneAuditLog(pool, now);
  log.info({ dropped }, "partitions and audit log are in order");
} finally {
  await pool.end();
}
