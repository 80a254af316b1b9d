import { stringify } from "yaml";
import { DASHBOARDS } from "./dashboards/all.ts";
import { grafanaModel } from "./dashboards/panel.ts";
import { alertRules } from "./monitoring/rules.ts";
import { chartFacts } from "./processes.ts";
import { valuesSchema } from "./values-schema.ts";

/** The files of the chart that are written by programs, by their path in the chart. */
export function generatedFiles(): Record<string, string> {
  const dashboards = DASHBOARDS.map((dashboard) => [
    `files/dashboards/${dashboard.name}.json`,
    json(grafanaModel(dashboard)),
  ]);
  return {
    "files/processes.yaml": yaml("packages/service-registry", chartFacts()),
    "files/rules/toolgate.yaml": yaml("deploy/chart/src/monitoring", alertRules()),
    ...Object.fromEntries(dashboards),
    "values.schema.json": json(valuesSchema()),
  };
}

function yaml(source: string, content: unknown): string {
  const text = stringify(content, { aliasDuplicateObjects: false, lineWidth: 0 });
  return `# Written by make gen from ${source}. Not for editing.\n${text}`;
}

function json(content: unknown): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}
