import { readSandboxSettings, type SandboxSettings } from "@toolgate/sandbox/config";
import { type NeedSettings, readNeeds } from "@toolgate/service-host/connections";
import { type Env, readConfig as read } from "@toolgate/service-host/env";
import { type MailSettings, type OutgoingSettings, readMail, readOutgoing } from "@toolgate/service-host/outgoing";
import { SERVICES } from "@toolgate/service-registry/services";

export const { needs: NEEDS } = SERVICES["tool-runner"];

export interface Config extends NeedSettings<(typeof NEEDS)[number]>, OutgoingSettings {
  sandbox: SandboxSettings;
  /** Non-public addresses that data sources may have, as the operator allows. */
  allowedDataSources: string[];
  /** The server for tools' emails; undefined when tools cannot send any. */
  mail: MailSettings | undefined;
}

export function readConfig(env: Env): Config {
  return read(env, (reader) => ({
    sandbox: readSandboxSettings(reader),
    ...readNeeds(reader, "tool-runner", NEEDS),
    ...readOutgoing(reader),
    allowedDataSources: reader.list("ALLOWED_DATA_SOURCES"),
    mail: readMail(reader),
  }));
}
