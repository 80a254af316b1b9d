import { launch } from "@toolgate/service-host/launch";
import { remoteTransport } from "@toolgate/service-host/transport";
import { keyAuthProcessConfig } from "./config.ts";
import { startKeyAuth } from "./service.ts";

await launch({
  name: "key-auth",
  env: process.env,
  readConfig: keyAuthProcessConfig,
  start: (config, { log, internalToken }) =>
    startKeyAuth(config, { log, toolRunner: remoteTransport(config.toolRunnerUrl, internalToken) }),
});
