import { migrate } from "@toolgate/postgres/migrate";
import { type Pool, withPool } from "@toolgate/postgres/pool";
import { canActAs, ensureServiceRole, serviceRole } from "@toolgate/postgres/service-role";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { SERVICE_NAMES, SERVICES, type ServiceName } from "@toolgate/service-registry/services";

/** The services that own a schema. */
export const SERVICES_WITH_SCHEMA = SERVICE_NAMES.filter((name) => SERVICES[name].schema !== undefined);

/** Passwords of the services' roles. */
export type RolePasswords = Readonly<Partial<Record<ServiceName, string>>>;

/**
 * Brings the schemas of all services up to this version, as the administrator of the database. A service whose role
 * exists, or whose password is given, owns its schema afterwards; without a role the administrator does. Returns what was
 * applied, as "schema/file".
 */
export function migrateAll(adminUrl: string, passwords: RolePasswords = {}): Promise<string[]> {
  return withPool(adminUrl, "migrations", async (pool) => {
    const applied: string[] = [];
    for (const service of SERVICES_WITH_SCHEMA) {
      const { schema, dir } = migrationsOf(service);
      const role = await roleFor(pool, schema, passwords[service]);
      for (const name of await migrate({ pool, schema, dir, ...(role && { role }) })) applied.push(`${schema}/${name}`);
    }
    return applied;
  });
}

async function roleFor(pool: Pool, schema: string, password: string | undefined): Promise<string | undefined> {
  const { rows } = await pool.query("select current_database() as database, current_user as admin");
  const { database, admin } = rows[0];
  const role = serviceRole(database, schema);
  if (password === undefined) return role && role !== admin && (await canActAs(pool, role)) ? role : undefined;
  if (role === undefined) throw new Error(unusable(database));
  await ensureServiceRole(pool, role, password);
  return role;
}

function unusable(database: string): string {
  return `services get roles of their own only in a database whose name has a-z, 0-9 and _ and at most 46 characters, unlike ${database}`;
}

/**
 * The address of the same database for each service's role. Throws for an address in which the user cannot be replaced: the
 * services would silently log in as the administrator.
 */
export function roleUrls(adminUrl: string, passwords: RolePasswords): Partial<Record<ServiceName, string>> {
  const urls = SERVICES_WITH_SCHEMA.map((service) => {
    const url = URL.parse(adminUrl);
    const database = url?.pathname.slice(1);
    if (!url?.hostname || !database || ["user", "password"].some((name) => url.searchParams.has(name))) {
      throw new Error("the address of the database must have the form postgres://user:password@host:port/database");
    }
    const role = serviceRole(database, migrationsOf(service).schema);
    if (role === undefined) throw new Error(unusable(database));
    url.username = role;
    url.password = passwords[service] ?? "";
    return [service, url.href] as const;
  });
  return Object.fromEntries(urls.filter(([service]) => passwords[service] !== undefined));
}
