import { CAUSES } from "./causes.ts";
import { increaseOver, OBJECTIVES, type Objective, rateOver, ratioSeries } from "./objectives.ts";

export interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface RuleGroup {
  readonly name: string;
  readonly rules: readonly Rule[];
}

interface Burn {
  readonly severity: "page" | "ticket";
  /** How many times faster than allowed the budget of 30 days is used up. */
  readonly factor: number;
  readonly long: string;
  /** Also over this window, so that the alert ends soon after the fault. */
  readonly short: string;
}

/** As Google's SRE workbook recommends: 2 %, 5 % and 10 % of the budget, and what would use it up before its time. */
const BURNS: readonly Burn[] = [
  { severity: "page", factor: 14.4, long: "1h", short: "5m" },
  { severity: "page", factor: 6, long: "6h", short: "30m" },
  { severity: "ticket", factor: 3, long: "1d", short: "2h" },
  { severity: "ticket", factor: 1, long: "3d", short: "6h" },
];
export const WINDOWS = ["5m", "30m", "1h", "2h", "6h", "1d", "3d"];
/** With fewer bad events than this, a share says nothing. */
const MIN_BAD_EVENTS = 10;
/** The chart puts the address of the runbooks in its place. */
export const RUNBOOKS = "RUNBOOKS/";

/** The content of the rules file, for Prometheus and for the operator's PrometheusRule. */
export function alertRules(): { groups: RuleGroup[] } {
  return {
    groups: [
      { name: "toolgate-objectives", rules: OBJECTIVES.flatMap((objective) => WINDOWS.map(ratioRule(objective))) },
      { name: "toolgate-burn-rates", rules: OBJECTIVES.flatMap((objective) => BURNS.map(burnRule(objective))) },
      {
        name: "toolgate-causes",
        rules: CAUSES.map(({ alert, runbook, expr, minutes, severity, summary }) => ({
          alert,
          expr,
          for: `${minutes}m`,
          labels: { severity },
          annotations: { summary, runbook_url: runbookUrl(runbook) },
        })),
      },
    ],
  };
}

const ratioRule =
  (objective: Objective) =>
  (window: string): Rule => {
    const all = objective.all(rateOver(window));
    // Without a bad event there may be no series for it.
    return {
      record: ratioSeries(objective, window),
      expr: `(${objective.bad(rateOver(window))} or 0 * ${all}) / ${all}`,
    };
  };

const burnRule =
  (objective: Objective) =>
  ({ severity, factor, long, short }: Burn): Rule => {
    const limit = Number((factor * (1 - objective.goal)).toPrecision(6));
    const speed = factor === 1 ? "faster than" : `more than ${factor} times as fast as`;
    const isAbove = (window: string) => `${ratioSeries(objective, window)} > ${limit}`;
    const enough = `${objective.bad(increaseOver(long))} >= ${MIN_BAD_EVENTS}`;
    return {
      alert: objective.alert,
      expr: `${isAbove(long)} and ${isAbove(short)} and on (namespace) ${enough}`,
      labels: { severity, window: long },
      annotations: {
        summary: `${objective.title}: the budget of the objective of ${percent(objective.goal)} is used up ${speed} allowed`,
        description: `{{ $value | humanizePercentage }} were bad in the last ${long}, in the namespace {{ $labels.namespace }}.`,
        runbook_url: runbookUrl(objective.name),
      },
    };
  };

export function percent(share: number): string {
  return `${Number((share * 100).toPrecision(6))} %`;
}

function runbookUrl(name: string): string {
  return `${RUNBOOKS}${name}.md`;
}
