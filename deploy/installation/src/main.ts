import { setFlagsFromString } from "node:v8";
import { launch } from "@toolgate/service-host/process/launch";
import { loginsIn } from "./logins.ts";
import { readAllConfigs, startSingle } from "./single.ts";

// A major collection takes both processors of a small machine for 50 ms, and by default one comes after each 50 MB of
// garbage that has become old. This makes it rarer, for up to 200 MB more memory under load.
setFlagsFromString("--heap-growing-percent=200");

await launch({
  name: "toolgate",
  readConfig: (env) => readAllConfigs(env, env.LOGINS ? loginsIn(env.LOGINS) : {}),
  start: (configs, { log, tls }) => startSingle(configs, log, tls),
});
