import { type NeedSettings, readNeeds } from "@toolgate/service-host/connections";
import { type Env, readConfig as read } from "@toolgate/service-host/env";
import { type MailSettings, type OutgoingSettings, readMail, readOutgoing } from "@toolgate/service-host/outgoing";
import { SERVICES } from "@toolgate/service-registry/services";
import { DEFAULT_PROCESSES } from "./sandbox/limits.ts";
import { readRequireIsolation, readSandboxClient, type SandboxClient } from "./sandbox-config.ts";

export const { needs: NEEDS } = SERVICES["tool-runner"];

export interface Config extends NeedSettings<(typeof NEEDS)[number]>, OutgoingSettings {
  /** So many workspaces have a sandbox process at the same time. */
  sandboxProcesses: number;
  /** The sandbox processes that run the children; undefined when this process runs them. */
  sandbox: SandboxClient | undefined;
  /** Refuse to start when the machine has too few layers of isolation around the sandbox. */
  requireIsolation: boolean;
  /** Non-public addresses that data sources may have, as the operator allows. */
  allowedDataSources: string[];
  /** The server for tools' emails; undefined when tools cannot send any. */
  mail: MailSettings | undefined;
}

const MAX_SANDBOX_PROCESSES = 512;

export function readConfig(env: Env): Config {
  return read(env, (reader) => ({
    sandbox: readSandboxClient(reader),
    ...readNeeds(reader, "tool-runner", NEEDS),
    ...readOutgoing(reader),
    sandboxProcesses: reader.integer("SANDBOX_PROCESSES", {
      fallback: DEFAULT_PROCESSES,
      min: 1,
      max: MAX_SANDBOX_PROCESSES,
    }),
    requireIsolation: readRequireIsolation(reader),
    allowedDataSources: reader.list("ALLOWED_DATA_SOURCES"),
    mail: readMail(reader),
  }));
}
