import type { Queryable } from "@toolgate/postgres/pool";

export async function allRows<Row>(db: Queryable, text: string, values: unknown[]): Promise<Row[]> {
  const { rows } = await db.query(text, values);
  return rows;
}

export async function firstRow<Row>(db: Queryable, text: string, values: unknown[]): Promise<Row | undefined> {
  const { rows } = await db.query(text, values);
  return rows[0];
}

/** True if the statement changed a row. */
export async function changesRow(db: Queryable, text: string, values: unknown[]): Promise<boolean> {
  const { rowCount } = await db.query(text, values);
  return rowCount === 1;
}
