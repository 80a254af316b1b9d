import { parser } from "@prometheus-io/lezer-promql";
import { exportedSeries, type Labels, targetLabels } from "../monitoring/metrics.ts";

export interface QueryUse {
  readonly faults: readonly string[];
  /** The series that it reads. */
  readonly names: readonly string[];
  /** The labels that it groups by. */
  readonly groups: readonly string[];
}

interface Selector {
  name: string;
  matchers: { label: string; operator: string; value: string }[];
}

/** What a query in PromQL gets wrong: syntax, series that nobody exports, labels and values that they do not have. */
export function checkQuery(query: string, recorded: ReadonlyMap<string, Labels> = new Map()): QueryUse {
  // Variables of Grafana that stand where PromQL has a duration.
  const text = query.replaceAll("$__rate_interval", "5m");
  const { selectors, groups, errors } = parse(text);
  const series = exportedSeries();
  const targets = targetLabels();
  const faults = [...errors];
  const labelsOfAll = new Set(Object.keys(targets));
  for (const { name, matchers } of selectors) {
    const labels = name === "up" ? {} : (series.get(name) ?? recorded.get(name));
    if (!labels) {
      faults.push(`no process exports ${name}`);
      continue;
    }
    const all: Labels = { ...targets, ...labels };
    for (const label of Object.keys(labels)) labelsOfAll.add(label);
    for (const { label, operator, value } of matchers) {
      if (!(label in all)) faults.push(`${name} has no label ${label}`);
      else if (!hasValue(all[label], operator, value)) faults.push(`${label} of ${name} is never ${value}`);
    }
  }
  for (const label of groups) if (!labelsOfAll.has(label)) faults.push(`nothing to group by: ${label}`);
  return { faults, names: selectors.map(({ name }) => name), groups };
}

/** Each alternative of a pattern matches a value. */
function hasValue(values: readonly string[] | undefined, operator: string, wanted: string): boolean {
  if (!values || wanted.startsWith("$")) return true;
  if (!operator.endsWith("~")) return values.includes(wanted);
  return wanted.split("|").every((part) => values.some((value) => new RegExp(`^(?:${part})$`).test(value)));
}

function parse(text: string): { selectors: Selector[]; groups: string[]; errors: string[] } {
  const selectors: Selector[] = [];
  const groups: string[] = [];
  const errors: string[] = [];
  const textOf = (node: { from: number; to: number } | null) => (node ? text.slice(node.from, node.to) : "");
  parser.parse(text).iterate({
    enter({ node, type, name }) {
      if (type.isError) errors.push(`is no PromQL near "${text.slice(Math.max(0, node.from - 20), node.to + 20)}"`);
      if (name === "VectorSelector") selectors.push({ name: textOf(node.getChild("Identifier")), matchers: [] });
      if (name === "UnquotedLabelMatcher")
        selectors.at(-1)?.matchers.push({
          label: textOf(node.getChild("LabelName")),
          operator: textOf(node.getChild("MatchOp")),
          value: textOf(node.getChild("StringLiteral")).slice(1, -1),
        });
      if (name === "GroupingLabels") groups.push(...node.getChildren("LabelName").map(textOf));
    },
  });
  return { selectors, groups, errors };
}
