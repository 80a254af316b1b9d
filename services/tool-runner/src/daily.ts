import { runDailyJob } from "@toolgate/service-host/connections";
import { keepPartitions } from "./events/daily-partitions.ts";

await runDailyJob("tool-runner", keepPartitions);
