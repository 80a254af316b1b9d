import { type NeedSettings, readNeeds } from "@toolgate/service-host/connections";
import { type Env, type EnvReader, readConfig as read } from "@toolgate/service-host/env";
import { type OutgoingSettings, readOutgoing } from "@toolgate/service-host/outgoing";
import { type ProcessRoleOf, SERVICES } from "@toolgate/service-registry/services";

const NAME = "chat";

export type ProcessRole = ProcessRoleOf<typeof NAME>;
export const ROLES = Object.keys(SERVICES[NAME].roles) as ProcessRole[];

export const { needs: NEEDS } = SERVICES[NAME];

export interface Config extends NeedSettings<(typeof NEEDS)[number]>, OutgoingSettings {
  roles: ReadonlySet<ProcessRole>;
  /** Where uploaded files are stored: a folder that all processes of this service share. */
  filesFolder: string;
  /** Simultaneous turns of one worker, and of one workspace over all workers, in each lane. */
  turnsPerWorker: number;
  turnsPerWorkspace: number;
}

export function readConfig(env: Env): Config {
  return read(env, (reader) => ({
    ...readNeeds(reader, NAME, NEEDS),
    ...readOutgoing(reader),
    roles: new Set(readRoles(reader)),
    filesFolder: reader.text("CHAT_FILES", ""),
    turnsPerWorker: reader.integer("TURNS_PER_WORKER", { fallback: 500, min: 1, max: 10_000 }),
    turnsPerWorkspace: reader.integer("TURNS_PER_WORKSPACE", { fallback: 100, min: 1, max: 10_000 }),
  }));
}

function readRoles(reader: EnvReader): ProcessRole[] {
  const names = reader.list("ROLES");
  if (!names.every((name) => ROLES.includes(name as ProcessRole)))
    reader.fail(`ROLES must be one or more of ${ROLES.join(", ")}`);
  return names.length === 0 ? ROLES : (names as ProcessRole[]);
}
