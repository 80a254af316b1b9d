import { createPool, type Pool } from "@toolgate/postgres/pool";

const ROLE = "toolgate_data_demo";
const SCHEMA = "data_demo";

const ORDERS = [
  ["Ada", "Bern", 120],
  ["Grace", "Bern", 80.5],
  ["Alan", "Basel", 42],
  ["Edsger", "Zug", 300],
];

/**
 * The demo workspace's own data: a schema in the same server, and a role that can reach nothing else. Returns the URL
 * for this role.
 */
export async function prepareDemoData(databaseUrl: string, password: string): Promise<string> {
  const pool = createPool({ url: databaseUrl, maxConnections: 1, applicationName: "demo" });
  try {
    await prepareRole(pool, password);
    await pool.query(`create schema if not exists ${SCHEMA}`);
    await pool.query(`grant usage on schema ${SCHEMA} to ${ROLE}`);
    const created = await pool.query(`select to_regclass('${SCHEMA}.orders') is null as missing`);
    if (created.rows[0].missing) await createOrders(pool);
  } finally {
    await pool.end();
  }
  const url = new URL(databaseUrl);
  url.username = ROLE;
  url.password = password;
  return url.href;
}

async function prepareRole(pool: Pool, password: string): Promise<void> {
  const found = await pool.query("select 1 from pg_roles where rolname = $1", [ROLE]);
  if (found.rowCount === 0) await pool.query(`create role ${ROLE} login`);
  // `alter role` takes no parameters, so the password must need no quoting.
  if (!/^[0-9a-f]+$/.test(password)) throw new Error("the demo role's password must be hexadecimal");
  await pool.query(`alter role ${ROLE} login password '${password}' connection limit 20`);
  await pool.query(`alter role ${ROLE} set search_path = ${SCHEMA}`);
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
