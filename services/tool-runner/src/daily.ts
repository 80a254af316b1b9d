import { runDailyJob } from "@toolgate/service-host/connections";
import { maintainPartitions } from "./events/daily-partitions.ts";

await runDailyJob("tool-runner", maintainPartitions);
