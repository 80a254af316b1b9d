import type { QueueCaps } from "@toolgate/postgres/fair-queue/caps";
import { type NeedSettings, readNeeds } from "@toolgate/service-host/connections";
import { type Env, type EnvReader, readConfig as read } from "@toolgate/service-host/env";
import { type MailSettings, type OutgoingSettings, readMail, readOutgoing } from "@toolgate/service-host/outgoing";
import { type ProcessRoleOf, SERVICES } from "@toolgate/service-registry/services";

export const NAME = "outbound-webhook";
const MAX_SLOTS = 1_000;

export type ProcessRole = ProcessRoleOf<typeof NAME>;
export const ROLES = Object.keys(SERVICES[NAME].roles) as ProcessRole[];

/** What all roles but the worker need. */
export interface CoreConfig extends NeedSettings<"postgres" | "sealing-keys"> {
  caps: QueueCaps;
}

export interface Config extends NeedSettings<"nats">, OutgoingSettings {
  roles: ReadonlySet<ProcessRole>;
  /** Simultaneous attempts of a worker. */
  workerConcurrency: number;
  /** Undefined when the worker is the only role. */
  core: CoreConfig | undefined;
  /** Undefined when no email is sent from here. */
  mail: MailSettings | undefined;
}

export function readConfig(env: Env): Config {
  return read(env, (reader) => {
    const roles = new Set(readRoles(reader));
    const workerOnly = roles.size === 1 && roles.has("worker");
    return {
      ...readNeeds(reader, NAME, ["nats"]),
      ...readOutgoing(reader),
      roles,
      workerConcurrency: reader.integer("WORKER_CONCURRENCY", { fallback: 256, min: 1, max: 10_000 }),
      core: workerOnly ? undefined : readCore(reader),
      mail: roles.has("dispatcher") ? readMail(reader) : undefined,
    };
  });
}

function readRoles(reader: EnvReader): ProcessRole[] {
  const names = reader.list("ROLES");
  if (!names.every((name) => ROLES.includes(name as ProcessRole)))
    reader.fail(`ROLES must be one or more of ${ROLES.join(", ")}`);
  return names.length === 0 ? ROLES : (names as ProcessRole[]);
}

function readCore(reader: EnvReader): CoreConfig {
  const slots = (name: string, fallback: number) => reader.integer(name, { fallback, min: 1, max: MAX_SLOTS });
  return {
    ...readNeeds(reader, NAME, ["postgres", "sealing-keys"]),
    caps: {
      perGroup: slots("DELIVERIES_PER_WORKSPACE", 5),
      perMember: slots("DELIVERIES_PER_ENDPOINT", 2),
      failingPerGroup: slots("FAILING_DELIVERIES_PER_WORKSPACE", 2),
    },
  };
}
