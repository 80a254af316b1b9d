// A process of the role runner, for tests that kill it. It ends when its parent does.
import { createLogger } from "@toolgate/service-host/logger";
import { remotePeers } from "@toolgate/service-host/peers";
import type { Config } from "../../src/config.ts";
import { start } from "../../src/service.ts";

export interface RunnerProcessSettings {
  config: Config;
  internalToken: string;
  keyAuthUrl: string;
  chatUrl: string;
}

const { config, internalToken, keyAuthUrl, chatUrl } = JSON.parse(process.argv[2] ?? "{}") as RunnerProcessSettings;
const log = createLogger({ service: "inbound-hook", level: process.env.TEST_LOG_LEVEL ?? "silent" });
const urls = { "key-auth": keyAuthUrl, "tool-runner": keyAuthUrl, chat: chatUrl };
const peers = remotePeers(urls, { log, internalToken });
await start(config, { log, now: Date.now, peers });
process.stdin.on("end", () => process.exit()).resume();
process.stdout.write("started\n");
