import { createPool } from "@toolgate/postgres/pool";

/** Runs a statement with a service's login, or the statements that it makes. */
export async function change(url: string, sql: string): Promise<void> {
  const pool = createPool({ url, maxConnections: 1, applicationName: "test" });
  try {
    const { rows } = await pool.query(sql.replaceAll("DATABASE", new URL(url).pathname.slice(1)));
    if (sql.startsWith("select")) for (const made of rows) await pool.query(made.sql);
  } finally {
    await pool.end();
  }
}

/** Faults of a service's database: how to make one as the owner of the schema, how to undo it, and how it is named. */
export const DATABASE_FAULTS: readonly [what: string, service: string, make: string, undo: string, named: RegExp][] = [
  [
    "a migration that is missing",
    "chat",
    "delete from chat.migrations where number = 4",
    "insert into chat.migrations values (4, '0004_prices.sql')",
    /^schema: the schema of chat lacks migrations: 0004_prices\.sql$/,
  ],
  [
    "a migration of a newer version",
    "key-auth",
    "insert into key_auth.migrations values (99, '0099_later.sql')",
    "delete from key_auth.migrations where number = 99",
    /^schema: the schema of key-auth has migrations that this version does not know: 0099_later\.sql$/,
  ],
  [
    "a login that may use another service's tables",
    "key-auth",
    "grant usage on schema key_auth to DATABASE_chat",
    "revoke usage on schema key_auth from DATABASE_chat",
    /^permissions: test_\w+_chat, the login of chat, may use the schemas key_auth$/,
  ],
  [
    "a job that makes no partitions for the coming days",
    "inbound-hook",
    "select format('alter table inbound_hook.%I rename to %s_off', relname, relname) as sql from pg_class where relnamespace = 'inbound_hook'::regnamespace and relkind = 'r' and relname ~ '^run_[0-9]{8}$' and right(relname, 8)::date > (now() at time zone 'utc')::date + 1",
    "select format('alter table inbound_hook.%I rename to %s', relname, left(relname, -4)) as sql from pg_class where relnamespace = 'inbound_hook'::regnamespace and relkind = 'r' and relname ~ '_off$'",
    /^retention: the daily job of inbound-hook has not run: inbound_hook\.run has no partition after \d{4}-\d\d-\d\d$/,
  ],
  [
    "an uploaded file that is not in the folder",
    "chat",
    "insert into chat.file (id, user_id, name, size, created_at, expires_at) values ('11111111-2222-3333-4444-555555555555', 'u', 'a.txt', 3, now(), now() + interval '1 day')",
    "delete from chat.file where user_id = 'u'",
    /^data: 1 of the 1 newest uploaded files are not in the folder of CHAT_FILES$/,
  ],
  [
    "a message that nobody could process",
    "tool-runner",
    "insert into tool_runner.parked_message (parked_at, subject, reason, payload) values (now(), 'records.execution', 'bad', '')",
    "delete from tool_runner.parked_message",
    /^data: 1 messages could not be processed and are in tool_runner\.parked_message$/,
  ],
];
