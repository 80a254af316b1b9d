import type { Pool } from "pg";

/** What statements have read. */
export interface PlanCost {
  /** Ways to read the tables, such as `Index Scan`. */
  ways: Set<string>;
  /** Rows read of the tables whose names begin with the prefix. */
  rows: number;
}

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: PlanNode[];
}

/** Runs a statement, and adds what its plan reads. */
export async function addCost(
  client: Pick<Pool, "query">,
  { text, values = [], prefix }: { text: string; values?: unknown[]; prefix: string },
  cost: PlanCost,
): Promise<void> {
  const addNode = (node: PlanNode): void => {
    const table = node["Relation Name"];
    if (table !== undefined) cost.ways.add(node["Node Type"]);
    if (table?.startsWith(prefix)) {
      cost.rows += (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"];
    }
    for (const child of node.Plans ?? []) addNode(child);
  };
  const { rows } = await client.query(`explain (analyze, timing off, format json) ${text}`, values);
  const [{ Plan: root }] = rows[0]["QUERY PLAN"] as [{ Plan: PlanNode }];
  addNode(root);
}

/** A pool that runs each statement with parameters twice, and adds up from its plan what it reads. */
export function explainingPool(pool: Pool, prefix: string): { pool: Pool; cost: PlanCost } {
  const cost: PlanCost = { ways: new Set(), rows: 0 };
  const explaining = {
    connect: async () => {
      const client = await pool.connect();
      return {
        on: () => {},
        off: () => {},
        release: () => client.release(),
        query: async (text: string, values?: unknown[]) => {
          if (values) await addCost(client, { text, values, prefix }, cost);
          return client.query(text, values);
        },
      };
    },
  };
  return { pool: explaining as unknown as Pool, cost };
}
