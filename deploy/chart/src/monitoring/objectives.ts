/** What an installation promises, as shares of events over 30 days. docs/observability.md says it in words. */
export interface Objective {
  /** Part of the names of its series and of its runbook. */
  readonly name: string;
  /** The alert that says how fast the budget for errors is used up. */
  readonly alert: string;
  readonly title: string;
  /** The share of good events, such as 0.999. */
  readonly goal: number;
  /** Bad events in a range such as `rate` over `5m`, as PromQL that sums by namespace. */
  readonly bad: (by: Count) => string;
  readonly all: (by: Count) => string;
}

/** Turns a selector of counters into their sum by namespace, as a rate or as an increase. */
export type Count = (selector: string) => string;

const HTTP = "toolgate_http_request_duration_seconds_count";
const TOOLS = 'route="/api/v1/tools/*"';
const HOOKS = 'route="/api/v1/hooks/*"';
const VERIFY = 'rpc="toolgate.key_auth.v1.VerifyService/Verify"';

export const OBJECTIVES: readonly Objective[] = [
  {
    name: "tool-calls",
    alert: "ToolgateToolCallsFailing",
    title: "Tool calls that Toolgate itself does not fail (5xx)",
    goal: 0.999,
    bad: (by) => by(`${HTTP}{${TOOLS},status=~"5.."}`),
    all: (by) => by(`${HTTP}{${TOOLS}}`),
  },
  {
    name: "key-checks",
    alert: "ToolgateKeyChecksSlow",
    title: "Keys verified within 100 ms",
    goal: 0.99,
    bad: (by) =>
      `(${by(`toolgate_rpc_duration_seconds_count{${VERIFY}}`)} - ${by(`toolgate_rpc_duration_seconds_bucket{${VERIFY},le="0.1"}`)})`,
    all: (by) => by(`toolgate_rpc_duration_seconds_count{${VERIFY}}`),
  },
  {
    name: "hook-calls",
    alert: "ToolgateHookCallsFailing",
    title: "Calls of hooks that are accepted or refused for a reason (no 5xx but 508)",
    goal: 0.999,
    bad: (by) => by(`${HTTP}{${HOOKS},status=~"50[0-7]"}`),
    all: (by) => by(`${HTTP}{${HOOKS}}`),
  },
  {
    name: "hook-starts",
    alert: "ToolgateHookStartsLate",
    title: "Tools of hooks that start within 10 s",
    goal: 0.99,
    bad: (by) =>
      `(${by('toolgate_hook_start_delay_seconds_count{lane="tool"}')} - ${by('toolgate_hook_start_delay_seconds_bucket{lane="tool",le="10"}')})`,
    all: (by) => by('toolgate_hook_start_delay_seconds_count{lane="tool"}'),
  },
  {
    name: "chat-answers",
    alert: "ToolgateChatAnswersFailing",
    title: "Answers of assistants without an internal error",
    goal: 0.999,
    bad: (by) => by('toolgate_turns_ended_total{outcome="INTERNAL"}'),
    all: (by) => by("toolgate_turns_ended_total"),
  },
  {
    name: "chat-streams",
    alert: "ToolgateChatStreamsCut",
    title: "Streams of chats that Toolgate does not cut",
    goal: 0.995,
    bad: (by) => by('toolgate_chat_streams_ended_total{outcome="cut"}'),
    all: (by) => by("toolgate_chat_streams_ended_total"),
  },
];

/** The series with an objective's share of bad events over a window. */
export function ratioSeries({ name }: Objective, window: string): string {
  return `toolgate:${name.replaceAll("-", "_")}:error_ratio_${window}`;
}

export const rateOver =
  (window: string): Count =>
  (selector) =>
    `sum by (namespace) (rate(${selector}[${window}]))`;

export const increaseOver =
  (window: string): Count =>
  (selector) =>
    `sum by (namespace) (increase(${selector}[${window}]))`;
