import type { Query } from "./panel.ts";

/** Responses whose time tells how fast the others get theirs: refusals may wait on purpose (`slow-refusals.ts`). */
export const NOT_REFUSED = 'status!~"401|403|404|405|429"';

const selector = (metric: string, matchers: string) => `${metric}{namespace="$namespace"${matchers && `,${matchers}`}}`;
const by = (labels: string) => (labels ? ` by (${labels})` : "");
const legendOf = (labels: string) =>
  labels
    .split(",")
    .map((label) => `{{${label.trim()}}}`)
    .join(" ");

/** Events per second of a counter, for each value of the labels. */
export function rate(metric: string, labels: string, matchers = ""): Query {
  return {
    expr: `sum${by(labels)} (rate(${selector(metric, matchers)}[$__rate_interval]))`,
    legend: labels ? legendOf(labels) : "all",
  };
}

/** The share of those events that have more matchers. */
export function share(metric: string, bad: string, legend: string, matchers = ""): Query {
  const part = [matchers, bad].filter(Boolean).join(",");
  const all = `sum (rate(${selector(metric, matchers)}[$__rate_interval]))`;
  return { expr: `(sum (rate(${selector(metric, part)}[$__rate_interval])) or 0 * ${all}) / ${all}`, legend };
}

/** Quantiles of a histogram. */
export function quantiles(metric: string, matchers = "", labels = ""): Query[] {
  const grouping = ["le", labels].filter(Boolean).join(", ");
  return [0.5, 0.95, 0.99].map((quantile) => ({
    expr: `histogram_quantile(${quantile}, sum by (${grouping}) (rate(${selector(`${metric}_bucket`, matchers)}[$__rate_interval])))`,
    legend: `p${quantile * 100}${labels && ` ${legendOf(labels)}`}`,
  }));
}

/** A gauge of which each replica has its own part. */
export function total(metric: string, labels: string, matchers = ""): Query {
  return { expr: `sum${by(labels)} (${selector(metric, matchers)})`, legend: labels ? legendOf(labels) : "all" };
}

/** A gauge that every replica reports alike, or of which the highest counts. */
export function highest(metric: string, labels: string, matchers = ""): Query {
  return { expr: `max${by(labels)} (${selector(metric, matchers)})`, legend: labels ? legendOf(labels) : "highest" };
}
