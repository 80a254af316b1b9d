import { launch } from "@toolgate/service-host/launch";
import { gatewayProcessConfig } from "./config.ts";
import { startRemoteGateway } from "./remote.ts";

await launch({ name: "gateway", env: process.env, readConfig: gatewayProcessConfig, start: startRemoteGateway });
