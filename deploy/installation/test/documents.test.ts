import { glob, readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { migrate } from "@toolgate/postgres/migrate";
import { createPool } from "@toolgate/postgres/pool";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { SERVICE_NAMES, serviceEntry } from "@toolgate/service-registry/services";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { beforeAll, describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const FOLDERS = ["bench", "deploy", "docs", "packages", "proto", "services"];
/** STYLE.md cites files of other projects; extending.md describes a service that does not exist. */
const NAMES_OTHER_FILES = ["STYLE.md", "docs/extending.md"];
const LINK = /\]\(([^)\s]+)\)/g;
const EXTERNAL = /^(https?|mailto):/;
const HEADING = /^#+ (.*)$/gm;
/** A path in backquotes whose last part has an extension, such as `src/rpc/run.ts`. */
const FILE = /`([\w-]+(?:\/[\w.-]+)*\/[\w.-]+\.(?:ts|sql|proto|md|json|grit|sh))`/g;

const files = new Set<string>();
const documents: string[] = [];
const textOf = (path: string) => readFile(join(ROOT, path), "utf8");

beforeAll(async () => {
  const exclude = (path: string) => path.endsWith("node_modules") || path.startsWith("docs/site/src/content");
  for await (const path of glob(["*", `{${FOLDERS.join()}}/**`], { cwd: ROOT, exclude })) files.add(normalize(path));
  documents.push(...[...files].filter((path) => path.endsWith(".md")));
});

/** The anchor of a heading, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .trim()
    .replaceAll(" ", "-");
}

async function hasTarget(document: string, target: string): Promise<boolean> {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? document : normalize(join(dirname(document), path)).replace(/\/$/, "");
  if (!files.has(file)) return false;
  if (anchor === undefined) return true;
  return [...(await textOf(file)).matchAll(HEADING)].some(([, heading = ""]) => anchorOf(heading) === anchor);
}

describe("documents", () => {
  test("every link leads to a file or a folder, and to a heading that exists", async () => {
    const broken: string[] = [];
    for (const document of documents) {
      for (const [, target = ""] of (await textOf(document)).matchAll(LINK)) {
        if (!EXTERNAL.test(target) && !(await hasTarget(document, target))) broken.push(`${document}: ${target}`);
      }
    }
    expect(documents.length).toBeGreaterThan(20);
    expect(broken).toEqual([]);
  });

  test("every file that is named with its folder exists", async () => {
    const paths = [...files].map((path) => `/${path}`);
    const missing: string[] = [];
    for (const document of documents.filter((path) => !NAMES_OTHER_FILES.includes(path))) {
      for (const [, path = ""] of (await textOf(document)).matchAll(FILE)) {
        if (!paths.some((one) => one.endsWith(`/${path}`))) missing.push(`${document}: ${path}`);
      }
    }
    expect(missing).toEqual([]);
  });

  test("the operators' queries work, and name every outbox of the audit log and every table of parked messages", async () => {
    await using database = await testDatabase();
    const pool = createPool({ url: database.url, maxConnections: 1, applicationName: "documents" });
    try {
      for (const name of SERVICE_NAMES) if (serviceEntry(name).schema) await migrate({ pool, ...migrationsOf(name) });
      const queries = [...(await textOf("docs/operators.md")).matchAll(/```sql\n(.*?)```/gs)].map(
        ([, sql = ""]) => sql,
      );
      for (const sql of queries) await pool.query(sql);
      const { rows } = await pool.query(
        `select table_schema || '.' || table_name as name from information_schema.tables
         where table_name in ('audit_outbox', 'parked_message')`,
      );
      expect(rows.length).toBeGreaterThan(5);
      expect(rows.filter(({ name }) => !queries.join().includes(name))).toEqual([]);
    } finally {
      await pool.end();
    }
  });
});
