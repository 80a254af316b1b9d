// A process of the role runner, for tests that kill it. It ends when its parent does.

import type { ServiceTokens } from "@toolgate/service-host/identity/service-token";
import { createLogger } from "@toolgate/service-host/logger";
import { remotePeers } from "@toolgate/service-host/peers";
import { serviceToken } from "@toolgate/testbed/service-identity";
import type { Config } from "../../src/config.ts";
import { start } from "../../src/service.ts";

export interface RunnerProcessSettings {
  config: Config;
  serviceKey: string;
  keyAuthUrl: string;
  chatUrl: string;
}

const { config, serviceKey, keyAuthUrl, chatUrl } = JSON.parse(process.argv[2] ?? "{}") as RunnerProcessSettings;
const log = createLogger({ service: "inbound-hook", level: process.env.TEST_LOG_LEVEL ?? "silent" });
const urls = { "key-auth": keyAuthUrl, "tool-runner": keyAuthUrl, chat: chatUrl };
const tokens: ServiceTokens = async (called) => serviceToken("inbound-hook", called, { serviceKey });
const peers = remotePeers(urls, { log, tokens });
await start(config, { log, now: Date.now, peers });
process.stdin.on("end", () => process.exit()).resume();
process.stdout.write("started\n");
