import { canOpenInstallation } from "@toolgate/key-auth/operator/provision";
import { migrationState } from "@toolgate/postgres/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { createSecretBox, parseSealingKeys } from "@toolgate/secret-box/secret-box";
import { withCaFile } from "@toolgate/service-host/server-addresses";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { type Findings, type Member, messageOf, RESPONSE_MS } from "./finding.ts";

/** Each service's database, with the service's own login. */
export async function checkPostgres(members: readonly Member[], findings: Findings): Promise<void> {
  await Promise.all(members.map((member) => checkMember(member, findings)));
}

async function checkMember(member: Member, findings: Findings): Promise<void> {
  const { user, env, needs } = member;
  if (!env.DATABASE_URL || !needs.includes("postgres")) return;
  const url = withCaFile(env.DATABASE_URL, env.SERVERS_CA_FILE ?? "");
  const limits = { waitMs: RESPONSE_MS, connectTimeoutMs: RESPONSE_MS, statementTimeoutMs: RESPONSE_MS };
  const pool = createPool({ url, maxConnections: 1, applicationName: "doctor", ...limits });
  try {
    await checkSchema(pool, member, findings);
  } catch (error) {
    findings.add("servers", `${user.name} cannot use PostgreSQL: ${messageOf(error)}`);
  } finally {
    await pool.end();
  }
}

async function checkSchema(pool: Pool, { user, env }: Member, findings: Findings): Promise<void> {
  const { service } = user;
  const migrations = migrationsOf(service);
  const { missing, unknown } = await migrationState({ pool, ...migrations });
  if (unknown.length > 0)
    findings.add("schema", `${service}: this version does not know the migrations ${unknown.join(", ")}`);
  if (missing.length > 0) return findings.add("schema", `${service} lacks migrations: ${missing.join(", ")}`);
  const { rows } = await pool.query(
    "select rolsuper or rolcreaterole or rolcreatedb or rolbypassrls as privileged from pg_roles where rolname = current_user",
  );
  if (rows[0].privileged)
    findings.add("permissions", `${service} logs in to PostgreSQL as a user who may do more than a service needs`);
  // Keys in another form are reported with the settings.
  const isKeys = /^\s*\d+:/.test(env.SEALING_KEYS ?? "");
  if (service === "key-auth" && isKeys) {
    const box = createSecretBox({ keys: parseSealingKeys(env.SEALING_KEYS ?? "") });
    const canOpen = await canOpenInstallation(pool, box);
    if (!canOpen) findings.add("data", "SEALING_KEYS cannot open the secrets in this database");
  }
  await checkParked(pool, `${migrations.schema}.parked_message`, findings);
}

/** Messages that nobody could process. */
async function checkParked(pool: Pool, table: string, findings: Findings): Promise<void> {
  const { rows } = await pool.query("select to_regclass($1) is not null as exists", [table]);
  if (!rows[0].exists) return;
  const { count } = (await pool.query(`select count(*)::int from ${table}`)).rows[0];
  if (count > 0) findings.add("data", `${count} messages could not be processed and are in ${table}`);
}
