import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Rendered } from "../helm.ts";
import type { Labels } from "../monitoring/metrics.ts";
import type { RuleGroup } from "../monitoring/rules.ts";
import { REPOSITORY } from "../paths.ts";
import { checkQuery } from "./queries.ts";

const RUNBOOKS = "docs/runbooks";
const VARIABLE = /\{\{ ?(?:\$labels\.)?([a-z_0-9]+) ?\}\}/g;

/** Rules and dashboards read only what processes export, and every alert has its page. */
export function monitoringFaults({ manifests, values }: Rendered): string[] {
  const groups = manifests
    .filter(({ kind }) => kind === "PrometheusRule")
    .flatMap(({ spec }) => spec.groups as RuleGroup[]);
  const recorded = new Map<string, Labels>(
    groups.flatMap(({ rules }) => rules.flatMap(({ record }) => (record ? [[record, {}] as const] : []))),
  );
  const runbooks: string = values.monitoring?.rules?.runbooks ?? `${RUNBOOKS}/`;
  return [
    ...groups.flatMap(({ rules }) => rules.flatMap((rule) => ruleFaults(rule, recorded, runbooks))),
    ...manifests
      .filter(({ metadata }) => metadata.labels?.grafana_dashboard)
      .flatMap(({ data }) => Object.entries<string>(data))
      .flatMap(([file, text]) => dashboardFaults(JSON.parse(text), recorded).map((fault) => `${file}: ${fault}`)),
  ];
}

function ruleFaults(
  { alert, record, expr, labels, annotations = {} }: RuleGroup["rules"][number],
  recorded: ReadonlyMap<string, Labels>,
  runbooks: string,
): string[] {
  const at = alert ?? record;
  const { faults, groups } = checkQuery(expr, recorded);
  const found = faults.map((fault) => `${at}: ${fault}`);
  if (alert === undefined) return found;
  if (!["page", "ticket"].includes(labels?.severity ?? "")) found.push(`${at}: neither a page nor a ticket`);
  const { summary = "", description = "", runbook_url = "" } = annotations;
  if (!summary) found.push(`${at}: no summary`);
  for (const [, label = ""] of `${summary}${description}`.matchAll(VARIABLE))
    if (!groups.includes(label)) found.push(`${at}: its text names the label ${label}`);
  const page = join(REPOSITORY, RUNBOOKS, runbook_url.slice(runbooks.length));
  if (!runbook_url.startsWith(runbooks) || !existsSync(page)) found.push(`${at}: no runbook ${runbook_url}`);
  return found;
}

interface Model {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

function dashboardFaults({ panels }: Model, recorded: ReadonlyMap<string, Labels>): string[] {
  const ids = panels.map(({ id }) => id);
  return [
    ...(new Set(ids).size === ids.length ? [] : ["two panels have the same id"]),
    ...panels.flatMap(({ title, targets = [] }) =>
      targets.flatMap(({ expr, legendFormat }) => {
        const { faults, groups } = checkQuery(expr, recorded);
        const unknown = [...legendFormat.matchAll(VARIABLE)].filter(([, label = ""]) => !groups.includes(label));
        return [
          ...faults,
          ...unknown.map(([, label]) => `its legend names the label ${label}`),
          ...(expr.includes('namespace="$namespace"') ? [] : ["adds up all namespaces"]),
        ].map((fault) => `${title}: ${fault}`);
      }),
    ),
  ];
}
