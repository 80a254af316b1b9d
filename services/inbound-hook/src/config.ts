import type { QueueCaps } from "@toolgate/postgres/fair-queue/caps";
import { type NeedSettings, readNeeds } from "@toolgate/service-host/connections";
import { type Env, type EnvReader, readConfig as read } from "@toolgate/service-host/env";
import { type MailSettings, readMail } from "@toolgate/service-host/outgoing";
import { type ProcessRoleOf, SERVICES } from "@toolgate/service-registry/services";

const NAME = "inbound-hook";

export type ProcessRole = ProcessRoleOf<typeof NAME>;
export const ROLES = Object.keys(SERVICES[NAME].roles) as ProcessRole[];

/** What only the role receiver needs. */
export interface ReceiverConfig extends NeedSettings<"redis" | "sealing-keys"> {
  /** Where senders reach the gateway, such as https://api.example.com; empty: unknown. */
  publicUrl: string;
}

/** What only the role runner needs. */
export interface RunnerConfig {
  /** How many runs this process has at the same time, by lane. */
  toolConcurrency: number;
  assistantConcurrency: number;
  /** Undefined when no email is sent. */
  mail: MailSettings | undefined;
}

export interface Config extends NeedSettings<"postgres" | "nats"> {
  /** The caps of each lane, which receivers and runners both need. */
  caps: QueueCaps;
  receiver: ReceiverConfig | undefined;
  runner: RunnerConfig | undefined;
}

export function readConfig(env: Env): Config {
  return read(env, (reader) => {
    const roles = new Set(readRoles(reader));
    // [FAIR-4]
    const perGroup = reader.integer("RUNS_PER_WORKSPACE", { fallback: 3, min: 1, max: 1_000 });
    return {
      ...readNeeds(reader, NAME, ["postgres", "nats"]),
      caps: { perGroup },
      receiver: roles.has("receiver") ? readReceiver(reader) : undefined,
      runner: roles.has("runner") ? readRunner(reader, perGroup) : undefined,
    };
  });
}

function readRoles(reader: EnvReader): ProcessRole[] {
  const names = reader.list("ROLES");
  if (!names.every((name) => ROLES.includes(name as ProcessRole)))
    reader.fail(`ROLES must be one or more of ${ROLES.join(", ")}`);
  return names.length === 0 ? ROLES : (names as ProcessRole[]);
}

function readReceiver(reader: EnvReader): ReceiverConfig {
  return {
    ...readNeeds(reader, NAME, ["redis", "sealing-keys"]),
    publicUrl: reader.text("PUBLIC_URL", ""),
  };
}

/** A process must have room for all runs that one workspace may have. */
function readRunner(reader: EnvReader, perWorkspace: number): RunnerConfig {
  const concurrency = { fallback: Math.max(64, perWorkspace), min: perWorkspace, max: 10_000 };
  return {
    toolConcurrency: reader.integer("TOOL_LANE_CONCURRENCY", concurrency),
    assistantConcurrency: reader.integer("ASSISTANT_LANE_CONCURRENCY", concurrency),
    mail: readMail(reader),
  };
}
