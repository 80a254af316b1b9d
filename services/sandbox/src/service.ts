import type { PlainProcess } from "@toolgate/service-host/process/launch-plain";
import { type Config, readConfig } from "./config.ts";
import { detectIsolation } from "./isolation/detect.ts";
import { reportLayers } from "./isolation/layers.ts";
import { startSandboxServer } from "./server.ts";

/**
 * Runs the processes of tool-runners. It has no secrets, no database and no other servers, only the port on which
 * tool-runners reach it.
 */
export const service: PlainProcess<Config> = {
  name: "sandbox",
  readConfig,
  async start({ requireIsolation, tokenHashes }, { host, rpcPort, log, tls }) {
    const isolation = detectIsolation();
    reportLayers(isolation.layers, requireIsolation, log);
    const server = await startSandboxServer({ host, port: rpcPort, tokenHashes, isolation, tls });
    return Object.assign(server, { describe: () => ({ rpcPort: server.port, maxProcesses: server.maxProcesses }) });
  },
};
