import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import type { Queryable } from "./pool.ts";

const MAX_NAME_BYTES = 63;
const DUPLICATE_OBJECT = "42710";
const UNIQUE_VIOLATION = "23505";
const NAME = /^[a-z_][a-z0-9_]*$/;

/**
 * The name of the role that owns a service's schema and nothing else. It contains the database's, as all databases of a
 * server have the same roles. Undefined if it would have to be quoted or is too long.
 */
export function serviceRole(database: string, schema: string): string | undefined {
  const name = `${database}_${schema}`;
  return NAME.test(name) && name.length <= MAX_NAME_BYTES ? name : undefined;
}

/**
 * Creates the role or sets its password. It may log in, and nothing else. Whoever calls becomes its member, to be able to
 * give it a schema. Needs CREATEROLE.
 */
export async function ensureServiceRole(db: Queryable, role: string, password: string): Promise<void> {
  const { rowCount } = await db.query("select from pg_roles where rolname = $1", [role]);
  // `alter role` takes no parameters. The verifier is base64, and unlike the password it may be in the server's log.
  const verifier = scramVerifier(password);
  if (rowCount === 0) await db.query(`create role ${role} login noinherit password '${verifier}'`).catch(unlessExists);
  else await db.query(`alter role ${role} login password '${verifier}'`);
  if (!(await canActAs(db, role))) await db.query(`grant ${role} to current_user`);
}

/** Another process has just created it, with the same password. */
function unlessExists(error: { code?: string }): void {
  if (error.code !== DUPLICATE_OBJECT && error.code !== UNIQUE_VIOLATION) throw error;
}

/** Whether the role exists and the current user may act as it. */
export async function canActAs(db: Queryable, role: string): Promise<boolean> {
  // From PostgreSQL 16 on, whoever creates a role is its member, but may not act as it unless that is granted too.
  const { rows } = await db.query(
    `select exists (select from pg_roles where rolname = $1 and pg_has_role(oid,
       case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end)) as may`,
    [role],
  );
  return rows[0].may;
}

/** Creates the schema for the role, or gives it the schema with everything in it. Safe to repeat. */
export async function giveSchema(db: Queryable, schema: string, role: string): Promise<void> {
  const { rows } = await db.query(
    `select n.nspowner = r.oid as owned from pg_roles r left join pg_namespace n on n.nspname = $1 where r.rolname = $2`,
    [schema, role],
  );
  if (rows[0].owned === null) return void (await db.query(`create schema ${schema} authorization ${role}`));
  if (!rows[0].owned) await db.query(`alter schema ${schema} owner to ${role}`);
  const { rows: objects } = await db.query(OBJECTS_OF_OTHERS, [schema, role]);
  for (const { kind, name } of objects) await db.query(`alter ${kind} ${name} owner to ${role}`);
}

/** A sequence of a column belongs to its table, and the type of a table or an array to that: they change with it. */
const OBJECTS_OF_OTHERS = `
  select case relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view' else 'table' end as kind,
    format('%I.%I', nspname, relname) as name
  from pg_class c join pg_namespace n on n.oid = relnamespace
  where nspname = $1 and relkind in ('r', 'p', 'S', 'v', 'm') and relowner <> $2::regrole
    and not (relkind = 'S' and exists (
      select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')))
  union all
  select 'function', p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = pronamespace
  where nspname = $1 and proowner <> $2::regrole
  union all
  select 'type', t.oid::regtype::text from pg_type t join pg_namespace n on n.oid = t.typnamespace
  where nspname = $1 and typowner <> $2::regrole and typtype in ('c', 'd', 'e', 'r')
    and (typrelid = 0 or exists (select from pg_class c where c.oid = typrelid and relkind = 'c'))`;

const ITERATIONS = 4_096;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/** What the server stores of a password (RFC 5803), so that the password itself is never sent. */
function scramVerifier(password: string): string {
  const salt = randomBytes(SALT_BYTES);
  const salted = pbkdf2Sync(password.normalize("NFKC"), salt, ITERATIONS, KEY_BYTES, "sha256");
  const key = (name: string) => createHmac("sha256", salted).update(name).digest();
  const stored = createHash("sha256").update(key("Client Key")).digest("base64");
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString("base64")}$${stored}:${key("Server Key").toString("base64")}`;
}
