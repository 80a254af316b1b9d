import { launch } from "@toolgate/service-host/launch";
import { loginsIn } from "./logins.ts";
import { readAllConfigs, startSingle } from "./single.ts";

await launch({
  name: "toolgate",
  readConfig: (env) => readAllConfigs(env, env.LOGINS ? loginsIn(env.LOGINS) : {}),
  start: (configs, { log, tls }) => startSingle(configs, log, tls),
});
