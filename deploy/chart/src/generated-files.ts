import { stringify } from "yaml";
import { chartFacts } from "./processes.ts";
import { valuesSchema } from "./values-schema.ts";

/** The files of the chart that follow from the registry of services, by their path in the chart. */
export function generatedFiles(): Record<string, string> {
  const facts = stringify(chartFacts(), { aliasDuplicateObjects: false, lineWidth: 0 });
  return {
    "files/processes.yaml": `# Written by make gen from packages/service-registry. Not for editing.\n${facts}`,
    "values.schema.json": `${JSON.stringify(valuesSchema(), null, 2)}\n`,
  };
}
