import { migrate } from "@toolgate/postgres/migrate";
import { createPool } from "@toolgate/postgres/pool";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { SERVICE_NAMES, SERVICES } from "@toolgate/service-registry/services";

/** Brings the schemas of all services up to this version. Returns what was applied, as "schema/file". */
export async function migrateAll(databaseUrl: string): Promise<string[]> {
  const pool = createPool({ url: databaseUrl, maxConnections: 1, applicationName: "migrations" });
  try {
    const applied: string[] = [];
    for (const { schema, dir } of SERVICE_NAMES.filter((name) => SERVICES[name].schema).map(migrationsOf)) {
      for (const name of await migrate({ pool, schema, dir })) applied.push(`${schema}/${name}`);
    }
    return applied;
  } finally {
    await pool.end();
  }
}
