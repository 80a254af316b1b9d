import { launch } from "@toolgate/service-host/launch";
import { startSingle } from "./single.ts";

await launch({
  name: "toolgate",
  env: process.env,
  readConfig: (env) => env,
  start: async (env, { log, internalToken }) =>
    Object.assign(await startSingle(env, log, internalToken), { routes() {} }),
});
