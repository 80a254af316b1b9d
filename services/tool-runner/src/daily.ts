import { createPool } from "@toolgate/postgres/pool";
import { createLogger } from "@toolgate/service-host/logger";
import { dailyConfig } from "./config.ts";
import { keepPartitions } from "./events/daily-partitions.ts";

const log = createLogger({ service: "tool-runner daily job", level: "info" });
const pool = createPool({ ...dailyConfig(process.env), maxConnections: 1, applicationName: "tool-runner daily job" });
try {
  const dropped = await keepPartitions(pool, new Date());
  log.info({ dropped }, "partitions are in order");
} finally {
  await pool.end();
}
