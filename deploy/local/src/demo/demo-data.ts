import type { DatabaseUser } from "@toolgate/local-servers/server-accounts";
import { type Pool, withPool } from "@toolgate/postgres/pool";

/** The schema of the demo's data, and the role that can reach nothing else. */
const SCHEMA = "demo_data";
const ROLE = "toolgate_demo_data";

const ORDERS = [
  ["Ada", "Bern", 120],
  ["Grace", "Bern", 80.5],
  ["Alan", "Basel", 42],
  ["Edsger", "Zug", 300],
];

/** The logins for the demo's data: who creates its schema, and who may read and write there. */
export type DemoUrls = { readonly maker: string; readonly data: string };

const MAKER = "toolgate_demo";

/** Both may create no roles: whoever may, can run programs of the server on PostgreSQL 15. */
export const DEMO_USERS: readonly DatabaseUser[] = [
  { name: MAKER, role: MAKER, createsSchemas: true },
  { name: ROLE, role: ROLE },
];

/** The demo's logins at a server that was started with `DEMO_USERS`. */
export function demoUrlsOf(urls: Readonly<Record<string, string>> = {}): DemoUrls | undefined {
  const [maker, data] = [urls[MAKER], urls[ROLE]];
  return maker && data ? { maker, data } : undefined;
}

/**
 * The demo workspace's own data: a schema in the same server, and a role that can reach nothing else. Returns the URL
 * for this role.
 */
export async function prepareDemoData({ maker, data }: DemoUrls): Promise<string> {
  await withPool(maker, "demo", makeSchema);
  await withPool(data, "demo", setSearchPath);
  return data;
}

/** The same on a server of the user's own, whose administrator may create roles. */
export async function prepareDemoDataAsAdmin(adminUrl: string, password: string): Promise<string> {
  await withPool(adminUrl, "demo", async (pool) => {
    await prepareRole(pool, password);
    await makeSchema(pool);
    await setSearchPath(pool);
  });
  const url = new URL(adminUrl);
  url.username = ROLE;
  url.password = password;
  return url.href;
}

async function makeSchema(pool: Pool): Promise<void> {
  await pool.query(`create schema if not exists ${SCHEMA}`);
  await pool.query(`grant usage on schema ${SCHEMA} to ${ROLE}`);
  const created = await pool.query(`select to_regclass('${SCHEMA}.orders') is null as missing`);
  if (created.rows[0].missing) await createOrders(pool);
}

function setSearchPath(pool: Pool): Promise<unknown> {
  return pool.query(`alter role ${ROLE} set search_path = ${SCHEMA}`);
}

async function prepareRole(pool: Pool, password: string): Promise<void> {
  const found = await pool.query("select 1 from pg_roles where rolname = $1", [ROLE]);
  if (found.rowCount === 0) await pool.query(`create role ${ROLE} login`);
  // `alter role` takes no parameters, so the password must need no quoting.
  if (!/^[0-9a-f]+$/.test(password)) throw new Error("the demo role's password must be hexadecimal");
  await pool.query(`alter role ${ROLE} login password '${password}' connection limit 20`);
}

async function createOrders(pool: Pool): Promise<void> {
  await pool.query(
    `create table ${SCHEMA}.orders (
       id bigint generated always as identity primary key,
       customer text not null,
       city text not null,
       amount numeric(12, 2) not null
     )`,
  );
  await pool.query(`grant select, insert on ${SCHEMA}.orders to ${ROLE}`);
  for (const order of ORDERS) {
    await pool.query(`insert into ${SCHEMA}.orders (customer, city, amount) values ($1, $2, $3)`, order);
  }
}
