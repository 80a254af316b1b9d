import { launch } from "@toolgate/service-host/launch";
import { readAllConfigs, startSingle } from "./single.ts";

await launch({
  name: "toolgate",
  readConfig: readAllConfigs,
  start: (configs, { log }) => startSingle(configs, log),
});
