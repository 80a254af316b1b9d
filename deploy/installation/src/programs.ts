import { launcherOf } from "@toolgate/service-registry/paths";
import { SERVICE_NAMES, serviceEntry } from "@toolgate/service-registry/services";

/** What a container of the image runs. */
export interface Program {
  /** The path of its launcher. */
  readonly path: string;
  /** For ROLES; absent: as the environment says. */
  readonly role?: string;
}

const own = (file: string): Program => ({ path: new URL(file, import.meta.url).pathname });
const OTHERS: Readonly<Record<string, Program>> = {
  toolgate: own("main.ts"),
  migrations: own("migrate-main.ts"),
  logins: own("logins-main.ts"),
  admin: own("admin-main.ts"),
};

/** All names that a container may be given: services, their roles, and the rest of an installation. */
export function programNames(): string[] {
  return [...Object.keys(OTHERS), ...Object.keys(servicePrograms())];
}

export function programOf(name: string): Program | undefined {
  return { ...OTHERS, ...servicePrograms() }[name];
}

function servicePrograms(): Record<string, Program> {
  return Object.fromEntries(
    SERVICE_NAMES.flatMap((service) => {
      const path = launcherOf(service);
      const roles = Object.keys(serviceEntry(service).roles ?? {});
      return [[service, { path }], ...roles.map((role) => [`${service}-${role}`, { path, role }])];
    }),
  );
}
