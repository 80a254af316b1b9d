import { launch } from "@toolgate/service-host/launch";
import { gatewayConfig } from "./config.ts";
import { startRemoteGateway } from "./remote.ts";

await launch({ name: "gateway", env: process.env, readConfig: gatewayConfig, start: startRemoteGateway });
