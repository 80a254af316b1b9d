import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { migrateAll } from "@toolgate/installation/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { type TestDatabase, testDatabase } from "@toolgate/testbed/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CAUSES } from "../../src/monitoring/causes.ts";
import { OBJECTIVES } from "../../src/monitoring/objectives.ts";
import { REPOSITORY } from "../../src/paths.ts";
import { splitProcesses } from "../../src/processes.ts";

const FOLDER = join(REPOSITORY, "docs/runbooks");
const read = (file: string) => readFileSync(join(FOLDER, file), "utf8");
const PAGES = readdirSync(FOLDER).filter((file) => file !== "README.md");
const ALERTS = [
  ...OBJECTIVES.map(({ name, alert }) => ({ page: `${name}.md`, alert, severity: "page" })),
  ...CAUSES.map(({ runbook, alert, severity }) => ({ page: `${runbook}.md`, alert, severity })),
];

test("every alert has a page of its name, in the list with its severity, and there is no other page", () => {
  expect(PAGES.toSorted()).toEqual(ALERTS.map(({ page }) => page).toSorted());
  const index = read("README.md");
  for (const { page, alert, severity } of ALERTS) {
    expect(read(page).split("\n")[0]).toBe(`# ${alert}`);
    expect(index).toContain(`| [${alert}](${page}) | ${severity} |`);
  }
});

test.each(PAGES)("the commands of %s name processes of the chart and ports that they have", (page) => {
  const text = read(page);
  const processes = splitProcesses();
  const names = [...text.matchAll(/component=([a-z-]+)|deployment\/toolgate-([a-z-]+)/g)];
  expect(names.length + [...text.matchAll(/^kubectl|^helm|^ *nats|^```sql/gm)].length).toBeGreaterThan(0);
  for (const [, component, deployment] of names) expect(Object.keys(processes)).toContain(component ?? deployment);
  const opsPorts = Object.values(processes).map(({ ports }) => ports.ops);
  for (const [, port] of text.matchAll(/127\.0\.0\.1:(\d+)/g)) expect(opsPorts).toContain(Number(port));
});

describe("queries of runbooks", () => {
  let database: TestDatabase;
  let pool: Pool;
  beforeAll(async () => {
    database = await testDatabase();
    await migrateAll(database.url);
    pool = createPool({ url: database.url, maxConnections: 1, applicationName: "runbooks" });
  });
  afterAll(async () => {
    await pool.end();
    await database[Symbol.asyncDispose]();
  });

  const queries = PAGES.flatMap((page) =>
    [...read(page).matchAll(/^ *```sql\n([\s\S]*?)\n *```/gm)].map(([, query = ""]) => [page, query] as const),
  );
  test.each(queries)("%s: %s", async (_, query) => {
    await pool.query(query);
  });
});
