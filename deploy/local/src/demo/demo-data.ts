import type { DatabaseUser } from "@toolgate/local-servers/server-accounts";
import { createPool, type Pool } from "@toolgate/postgres/pool";

/** A schema for the demo's data, and the role that can reach nothing else. */
type Place = { readonly schema: string; readonly role: string };

const OWN: Place = { schema: "demo_data", role: "toolgate_demo_data" };
/** On a server of the user's own. */
const MADE_BY_ADMIN: Place = { schema: "data_demo", role: "toolgate_data_demo" };

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
  { name: OWN.role, role: OWN.role },
];

/** The demo's logins at a server that was started with `DEMO_USERS`. */
export function demoUrlsOf(urls: Readonly<Record<string, string>> = {}): DemoUrls | undefined {
  const [maker, data] = [urls[MAKER], urls[OWN.role]];
  return maker && data ? { maker, data } : undefined;
}

/**
 * The demo workspace's own data: a schema in the same server, and a role that can reach nothing else. Returns the URL
 * for this role.
 */
export async function prepareDemoData({ maker, data }: DemoUrls): Promise<string> {
  await withPool(maker, (pool) => makeSchema(pool, OWN));
  await withPool(data, (pool) => pool.query(`alter role ${OWN.role} set search_path = ${OWN.schema}`));
  return data;
}

/** The same on a server of the user's own, whose administrator may create roles. */
export async function prepareDemoDataAsAdmin(adminUrl: string, password: string): Promise<string> {
  await withPool(adminUrl, async (pool) => {
    await prepareRole(pool, MADE_BY_ADMIN, password);
    await makeSchema(pool, MADE_BY_ADMIN);
  });
  const url = new URL(adminUrl);
  url.username = MADE_BY_ADMIN.role;
  url.password = password;
  return url.href;
}

async function withPool(url: string, work: (pool: Pool) => Promise<unknown>): Promise<void> {
  const pool = createPool({ url, maxConnections: 1, applicationName: "demo" });
  try {
    await work(pool);
  } finally {
    await pool.end();
  }
}

async function makeSchema(pool: Pool, place: Place): Promise<void> {
  const { schema, role } = place;
  await pool.query(`create schema if not exists ${schema}`);
  await pool.query(`grant usage on schema ${schema} to ${role}`);
  const created = await pool.query(`select to_regclass('${schema}.orders') is null as missing`);
  if (created.rows[0].missing) await createOrders(pool, place);
}

async function prepareRole(pool: Pool, { schema, role }: Place, password: string): Promise<void> {
  const found = await pool.query("select 1 from pg_roles where rolname = $1", [role]);
  if (found.rowCount === 0) await pool.query(`create role ${role} login`);
  // `alter role` takes no parameters, so the password must need no quoting.
  if (!/^[0-9a-f]+$/.test(password)) throw new Error("the demo role's password must be hexadecimal");
  await pool.query(`alter role ${role} login password '${password}' connection limit 20`);
  await pool.query(`alter role ${role} set search_path = ${schema}`);
}

async function createOrders(pool: Pool, { schema, role }: Place): Promise<void> {
  await pool.query(
    `create table ${schema}.orders (
       id bigint generated always as identity primary key,
       customer text not null,
       city text not null,
       amount numeric(12, 2) not null
     )`,
  );
  await pool.query(`grant select, insert on ${schema}.orders to ${role}`);
  for (const order of ORDERS) {
    await pool.query(`insert into ${schema}.orders (customer, city, amount) values ($1, $2, $3)`, order);
  }
}
