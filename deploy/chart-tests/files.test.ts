import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { migrateAll } from "@toolgate/installation/migrate";
import { createPool } from "@toolgate/postgres/pool";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { CHART } from "./helm.ts";
import { PROCESSES_FILE, processesFile } from "./write-processes.ts";

const DOCS = new URL("../../docs/", import.meta.url);
const RULES_FILE = `${CHART}files/rules/toolgate.yaml`;
const run = promisify(execFile);
const read = (path: string | URL) => readFileSync(path, "utf8");

interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  labels?: { severity: string };
  annotations?: { runbook_url: string };
}

const rules: Rule[] = parse(read(RULES_FILE)).groups.flatMap((group: { rules: Rule[] }) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const dashboards = readdirSync(`${CHART}files/dashboards`).map((file) => `${CHART}files/dashboards/${file}`);
const runbooks = readdirSync(new URL("runbooks", DOCS)).map((file) => ({
  file,
  text: read(new URL(`runbooks/${file}`, DOCS)),
}));

test("the list of processes is what make gen writes", () => {
  expect(read(PROCESSES_FILE)).toBe(processesFile());
});

const promtool = await run("promtool", ["--version"]).catch(() => undefined);
test.skipIf(promtool === undefined)(
  "Prometheus accepts the rules (needs promtool, of Debian's package prometheus)",
  async () => {
    await run("promtool", ["check", "rules", RULES_FILE]);
  },
);

test("rules and dashboards query metrics and labels that docs/observability.md lists", () => {
  // Another test compares that page with what running services export.
  const rows = [...read(new URL("observability.md", DOCS)).matchAll(/^\| `([a-z0-9_]+\*?)` \| [^|]+ \| ([^|]*)\|/gm)];
  const labelsOf = (metric: string) => {
    const name = metric.replace(/_(bucket|sum|count)$/, "");
    const row = rows.find(
      ([, known = ""]) =>
        known === name || known === metric || (known.endsWith("*") && name.startsWith(known.slice(0, -1))),
    );
    return row && [...(row[2] ?? "").matchAll(/`([a-z]+)`/g)].map(([, label]) => label);
  };
  const recorded = rules.flatMap(({ record }) => record ?? []);
  const panels = dashboards.flatMap((file) => JSON.parse(read(file)).panels);
  const shown: string[] = panels.flatMap(({ targets = [] }) => targets.map(({ expr }: { expr: string }) => expr));
  expect(shown.length).toBeGreaterThan(40);
  for (const query of [...rules.map(({ expr }) => expr), ...shown]) {
    const selectors = [
      ...query.matchAll(/([a-z]\w*:[\w:]+|(?:toolgate|process|nodejs|v8js)_\w+|\bup)\b(?:\{([^}]*)\})?/g),
    ];
    expect(selectors.length, query).toBeGreaterThan(0);
    for (const [, metric = "", matchers = ""] of selectors) {
      if (metric.includes(":")) expect(recorded).toContain(metric);
      const labels = metric.includes(":") || metric === "up" ? [] : labelsOf(metric);
      expect(labels, `${metric} in ${query}`).toBeDefined();
      for (const [, label] of matchers.matchAll(/(\w+)[!=]~?/g))
        expect([...(labels ?? []), "namespace", "job", "pod", "le"], `${metric} in ${query}`).toContain(label);
    }
  }
});

test("every alert has a severity and a section in a runbook, and there is no other section", () => {
  for (const { alert = "", labels, annotations } of alerts) {
    const [, file, anchor] = /^RUNBOOKS\/([a-z]+\.md)#(\w+)$/.exec(annotations?.runbook_url ?? "") ?? [];
    expect(anchor).toBe(alert.toLowerCase());
    expect(runbooks.find((page) => page.file === file)?.text).toContain(`## ${alert}\n`);
    expect(["page", "ticket"], alert).toContain(labels?.severity);
  }
  const sections = runbooks.flatMap(({ text }) => [...text.matchAll(/^## (\w+)$/gm)].map(([, name]) => name));
  expect(sections.toSorted()).toEqual([...new Set(alerts.map(({ alert }) => alert))].toSorted());
});

test("the commands of runbooks name processes of the chart, and their queries run", async () => {
  const processes = Object.keys(parse(read(PROCESSES_FILE)).split);
  const text = runbooks.map((page) => page.text).join("\n");
  const named = [
    ...text.matchAll(
      /(?:^|`)(?:pods|errors|restart|scale) ([a-z-]+)|component=([a-z-]+)|deployment\/toolgate-([a-z-]+)/gm,
    ),
  ];
  expect(named.length).toBeGreaterThan(40);
  for (const [, command, label, deployment] of named) expect(processes).toContain(command ?? label ?? deployment);
  await using database = await testDatabase();
  await migrateAll(database.url);
  const pool = createPool({ url: database.url, maxConnections: 1, applicationName: "runbooks" });
  for (const [, query = ""] of text.matchAll(/^ *```sql\n([\s\S]*?)\n *```/gm)) await pool.query(query);
  await pool.end();
});
