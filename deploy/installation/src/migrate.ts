import { MIGRATIONS_DIR as keyAuthDir, SCHEMA as keyAuthSchema } from "@toolgate/key-auth/schema";
import {
  MIGRATIONS_DIR as outboundWebhookDir,
  SCHEMA as outboundWebhookSchema,
} from "@toolgate/outbound-webhook/service";
import { migrate } from "@toolgate/postgres/migrate";
import { createPool } from "@toolgate/postgres/pool";
import { MIGRATIONS_DIR as toolRunnerDir, SCHEMA as toolRunnerSchema } from "@toolgate/tool-runner/schema";

const SCHEMAS = [
  { schema: keyAuthSchema, dir: keyAuthDir },
  { schema: toolRunnerSchema, dir: toolRunnerDir },
  { schema: outboundWebhookSchema, dir: outboundWebhookDir },
];

/** Brings the schemas of all services up to this version. Returns what was applied, as "schema/file". */
export async function migrateAll(databaseUrl: string): Promise<string[]> {
  const pool = createPool({ url: databaseUrl, maxConnections: 1, applicationName: "migrations" });
  try {
    const applied: string[] = [];
    for (const { schema, dir } of SCHEMAS) {
      for (const name of await migrate({ pool, schema, dir })) applied.push(`${schema}/${name}`);
    }
    return applied;
  } finally {
    await pool.end();
  }
}
