import type { PlainProcess } from "@toolgate/service-host/launch-plain";
import { detectIsolation } from "../sandbox/isolation/detect.ts";
import { reportIsolation } from "../sandbox/isolation/report.ts";
import { startSandboxServer } from "../sandbox/processes/remote/server.ts";
import { readSandboxConfig, type SandboxConfig } from "../sandbox-config.ts";

/**
 * The process role sandbox: runs the children of tool-runners. It has no secrets, no database and no other servers, only
 * the socket on which tool-runners reach it.
 */
export const sandbox: PlainProcess<SandboxConfig> = {
  name: "sandbox",
  readConfig: readSandboxConfig,
  async start({ requireIsolation, ...config }, { log, tls }) {
    const isolation = detectIsolation();
    reportIsolation(isolation, requireIsolation, log);
    const server = await startSandboxServer({ ...config, isolation, tls });
    return Object.assign(server, { describe: () => ({ rpcPort: server.port }) });
  },
};
