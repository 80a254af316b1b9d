import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HOOKS_PATH, TOOLS_PATH } from "@toolgate/gateway/http/paths";
import { SERVER_USERS } from "@toolgate/service-registry/server-users";
import { SERVICE_NAMES, serviceEntry } from "@toolgate/service-registry/services";
import { REPOSITORY } from "../paths.ts";
import { splitProcesses } from "../processes.ts";

/** The labels of a series, each with all its values, or undefined where these are not a closed list. */
export type Labels = Readonly<Record<string, readonly string[] | undefined>>;

/** A row of the table of metrics: name, type, labels. */
const ROW = /^\| `([a-z0-9_]+)` \| ([a-z]+)[^|]* \| ([^|]*)\|/gm;
const LABEL = /`([a-z]+)`(?: \(([^)]*)\))?/g;
/** Of Node, from OpenTelemetry; a test compares them with what a process serves. */
export const RUNTIME_METRICS: Readonly<Record<string, Labels>> = {
  nodejs_eventloop_utilization: {},
  nodejs_eventloop_delay_p99: {},
  v8js_memory_heap_used: { v8js_heap_space_name: undefined },
};

/**
 * All series that Toolgate exports, as docs/observability.md lists them; deploy/installation/test/metrics.test.ts compares that
 * page with running services.
 */
export function exportedSeries(): Map<string, Labels> {
  const series = new Map<string, Labels>(Object.entries(RUNTIME_METRICS));
  for (const [name, { type, labels }] of documentedMetrics()) {
    if (type !== "histogram") series.set(name, labels);
    else {
      series.set(`${name}_bucket`, { ...labels, le: undefined });
      for (const part of ["sum", "count"]) series.set(`${name}_${part}`, labels);
    }
  }
  return series;
}

/** The metrics of the page, without those of Node. */
export function documentedMetrics(): Map<string, { type: string; labels: Labels }> {
  const page = readFileSync(join(REPOSITORY, "docs/observability.md"), "utf8");
  return new Map(
    [...page.matchAll(ROW)].map(([, name = "", type = "", labels = ""]) => [name, { type, labels: labelsOf(labels) }]),
  );
}

/** What Prometheus adds to each series: the target that it came from. */
export function targetLabels(): Labels {
  return { namespace: undefined, pod: undefined, job: [...Object.keys(splitProcesses()), "toolgate"] };
}

function labelsOf(text: string): Labels {
  const known: Labels = { rpc: rpcs(), route: [`${TOOLS_PATH}*`, `${HOOKS_PATH}*`], consumer: consumers() };
  return Object.fromEntries(
    [...text.matchAll(LABEL)].map(([, name = "", values]) => [
      name,
      known[name] ?? (values ? closedList(values) : undefined),
    ]),
  );
}

/** "2xx to 5xx" and "the error's code" are no closed list. */
function closedList(text: string): string[] | undefined {
  return /\bto\b|\bor\b/.test(text) ? undefined : text.split(", ");
}

function rpcs(): string[] {
  return SERVICE_NAMES.flatMap((service) =>
    serviceEntry(service).rpcs.flatMap(({ typeName, methods }) => methods.map(({ name }) => `${typeName}/${name}`)),
  );
}

function consumers(): string[] {
  const prefix = "$JS.API.CONSUMER.INFO.";
  const subjects = SERVER_USERS.flatMap(({ nats }) => nats.publish).filter((subject) => subject.startsWith(prefix));
  return subjects.map((subject) => subject.slice(subject.lastIndexOf(".") + 1));
}
