import { launch } from "@toolgate/service-host/launch";
import { toolRunnerConfig } from "./config.ts";
import { startToolRunner } from "./service.ts";

await launch({
  name: "tool-runner",
  env: process.env,
  readConfig: toolRunnerConfig,
  start: (config, { log }) => startToolRunner(config, { log }),
});
