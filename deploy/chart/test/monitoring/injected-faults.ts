import type { Fault } from "../injected-faults.ts";

const RULES = "files/rules/toolgate.yaml";

export const MONITORING_FAULTS: readonly Fault[] = [
  [
    "an alert on a metric that nobody exports",
    RULES,
    "max by (namespace, consumer) (toolgate_consumer_pending)",
    "max by (namespace, consumer) (toolgate_consumer_lag)",
    /ToolgateConsumerBehind: no process exports toolgate_consumer_lag/,
    "production",
  ],
  [
    "an alert on a value that a label never has",
    RULES,
    'state="ready"',
    'state="running"',
    /ToolgateNoSandbox: state of toolgate_sandbox_children is never running/,
    "production",
  ],
  [
    "a share of events that no rule records",
    RULES,
    "record: toolgate:tool_calls:error_ratio_1h",
    "record: toolgate:tool_calls:errors_1h",
    /no process exports toolgate:tool_calls:error_ratio_1h/,
    "production",
  ],
  [
    "an alert without a runbook",
    RULES,
    "runbook_url: RUNBOOKS/no-sandbox.md",
    "runbook_url: RUNBOOKS/sandbox.md",
    /ToolgateNoSandbox: no runbook docs\/runbooks\/sandbox\.md/,
    "production",
  ],
  [
    "an alert that says neither page nor ticket",
    RULES,
    "severity: page",
    "severity: critical",
    /neither a page nor a ticket/,
    "production",
  ],
  [
    "an alert with a label in its text that it does not have",
    RULES,
    "wait for {{ $labels.consumer }}",
    "wait for {{ $labels.stream }}",
    /ToolgateConsumerBehind: its text names the label stream/,
    "production",
  ],
  [
    "a panel of a metric that nobody exports",
    "files/dashboards/chat.json",
    "toolgate_turn_takeovers_total",
    "toolgate_takeovers_total",
    /chat\.json: Taken over from another worker: no process exports toolgate_takeovers_total/,
    "production",
  ],
  [
    "a panel that groups by a label that the metric does not have",
    "files/dashboards/hooks.json",
    "sum by (lane, outcome)",
    "sum by (workspace, outcome)",
    /hooks\.json: Runs that ended: nothing to group by: workspace/,
    "production",
  ],
  [
    "a panel over all namespaces",
    "files/dashboards/sandbox.json",
    'toolgate_sandbox_runs{namespace=\\"$namespace\\"}',
    "toolgate_sandbox_runs",
    /sandbox\.json: Runs: adds up all namespaces/,
    "production",
  ],
];
