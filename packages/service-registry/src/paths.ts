import { fileURLToPath } from "node:url";
import { SERVICES, type ServiceName } from "./services.ts";

const SERVICES_URL = new URL("../../../services/", import.meta.url);

/** The file that runs a service as a process. */
export function launcherOf(name: ServiceName): string {
  return fileURLToPath(new URL(`${name}/src/main.ts`, SERVICES_URL));
}

/** A service's schema and the folder of its migrations. Throws for a service without tables. */
export function migrationsOf(name: ServiceName): { schema: string; dir: string } {
  const { schema } = SERVICES[name];
  if (schema === undefined) throw new Error(`${name} owns no tables`);
  return { schema, dir: fileURLToPath(new URL(`${name}/migrations`, SERVICES_URL)) };
}
