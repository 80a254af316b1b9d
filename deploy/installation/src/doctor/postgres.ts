import { migrationState } from "@toolgate/postgres/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { withCaFile } from "@toolgate/service-host/server-addresses";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { SERVICES_WITH_SCHEMA } from "../migrate.ts";
import type { Clocks } from "./clocks.ts";
import { checkData } from "./data.ts";
import { type Findings, messageOf, RESPONSE_MS } from "./finding.ts";
import type { Installation, Member } from "./installation.ts";
import { checkPartitions } from "./retention.ts";
import { checkVersion, type Supported } from "./versions.ts";

const MIGRATE = "Run deploy/installation/src/migrate-main.ts, with LOGINS, as the administrator of the database.";

/** Each service's database, with the service's own login. */
export async function checkPostgres(
  installation: Installation,
  clocks: Clocks,
  supported: Supported,
  findings: Findings,
): Promise<void> {
  const members = installation.members.filter(({ needs, env }) => needs.includes("postgres") && env.DATABASE_URL);
  for (const member of members) {
    const { name } = member.user;
    const pool = createPool({
      url: withCaFile(member.env.DATABASE_URL ?? "", member.env.SERVERS_CA_FILE ?? ""),
      maxConnections: 1,
      applicationName: "doctor",
      statementTimeoutMs: RESPONSE_MS,
    });
    try {
      if (!(await canConnect(pool, name, clocks, findings))) continue;
      const { rows } = await pool.query("show server_version");
      checkVersion("PostgreSQL", rows[0].server_version, supported, findings);
      await checkMember(pool, member, findings);
    } catch (error) {
      findings.add("permissions", `PostgreSQL refuses ${name} a query: ${messageOf(error)}`, MIGRATE);
    } finally {
      await pool.end();
    }
  }
}

async function canConnect(pool: Pool, name: string, clocks: Clocks, findings: Findings): Promise<boolean> {
  try {
    await pool.query("select 1");
    const sentAt = clocks.now();
    const { rows } = await pool.query("select extract(epoch from clock_timestamp()) * 1000 as now");
    clocks.compare("PostgreSQL", Number(rows[0].now), sentAt, 1);
    return true;
  } catch (error) {
    findings.add(
      "servers",
      `${name} cannot use PostgreSQL: ${messageOf(error)}`,
      "Check that the server runs, and DATABASE_URL. After a change of passwords, run the migrations with LOGINS.",
    );
    return false;
  }
}

async function checkMember(pool: Pool, member: Member, findings: Findings): Promise<void> {
  const { service } = member.user;
  const migrations = migrationsOf(service);
  const { missing, unknown } = await migrationState({ pool, ...migrations });
  if (missing.length > 0)
    findings.add("schema", `the schema of ${service} lacks migrations: ${missing.join(", ")}`, MIGRATE);
  if (unknown.length > 0)
    findings.add(
      "schema",
      `the schema of ${service} has migrations that this version does not know: ${unknown.join(", ")}`,
      "Run the doctor of the newer version, and start that version: migrations cannot be taken back.",
    );
  if (missing.length > 0) return;
  await checkIndexes(pool, migrations.schema, findings);
  await checkRights(pool, service, migrations.schema, findings);
  await checkPartitions(pool, service, migrations.schema, findings);
  await checkData(pool, member, findings);
}

async function checkIndexes(pool: Pool, schema: string, findings: Findings): Promise<void> {
  const { rows } = await pool.query(
    `select indexrelid::regclass::text as name from pg_index join pg_class c on c.oid = indexrelid
     where relnamespace = to_regnamespace($1) and not indisvalid`,
    [schema],
  );
  for (const { name } of rows)
    findings.add(
      "schema",
      `the index ${name} is not finished`,
      `Run \`drop index ${name}\` and delete its migration from ${schema}.migrations, then run the migrations again.`,
    );
}

/** A login that may do more than its service needs is reported too. */
async function checkRights(pool: Pool, service: string, schema: string, findings: Findings): Promise<void> {
  const { rows } = await pool.query(
    `select current_user as name, rolsuper or rolcreaterole or rolcreatedb or rolbypassrls as privileged,
       array(select format('%I.%I', nspname, relname) from pg_class c join pg_namespace n on n.oid = relnamespace
         where nspname = $1 and relkind in ('r', 'p') and not pg_has_role(relowner, 'member') order by 1) as foreign_tables,
       array(select nspname::text from pg_namespace where nspname = any($2) and has_schema_privilege(oid, 'usage')) as others
     from pg_roles where rolname = current_user`,
    [schema, SERVICES_WITH_SCHEMA.map((name) => migrationsOf(name).schema).filter((other) => other !== schema)],
  );
  const { name, privileged, foreign_tables: tables, others } = rows[0];
  const again = "Give each service a login of its own (logins-main.ts), and run the migrations with LOGINS.";
  if (privileged)
    findings.add(
      "permissions",
      `${service} logs in to PostgreSQL as ${name}, who may do more than a service needs`,
      again,
    );
  else if (others.length > 0)
    findings.add("permissions", `${name}, the login of ${service}, may use the schemas ${others.join(", ")}`, again);
  if (tables.length > 0)
    findings.add(
      "permissions",
      `${tables.length} tables of ${service} do not belong to ${name}, the first is ${tables[0]}`,
      MIGRATE,
    );
}
