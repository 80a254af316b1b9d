import type { Series } from "./promtool.ts";

/** Events a minute, for some minutes. */
interface Phase {
  readonly good: number;
  readonly bad: number;
  readonly minutes: number;
}
/** The series of an objective's events. */
type Traffic = (...phases: Phase[]) => Series[];

const NS = 'namespace="tools"';

/** The samples of a counter that starts at 0. */
function counter(phases: readonly Phase[], perMinute: (phase: Phase) => number): string {
  let value = 0;
  const parts = phases.map((phase) => {
    const step = perMinute(phase);
    const first = value;
    value += step * (phase.minutes + 1);
    return `${first}+${step}x${phase.minutes}`;
  });
  return parts.join(" ");
}

/** Bad events have a series of their own. */
const separate =
  (good: string, bad: string): Traffic =>
  (...phases) => [
    [good, counter(phases, (phase) => phase.good)],
    [bad, counter(phases, (phase) => phase.bad)],
  ];
/** Bad events are missing in a bucket. */
const histogram =
  (metric: string, labels: string, le: string): Traffic =>
  (...phases) => [
    [`${metric}_count{${NS},${labels}}`, counter(phases, ({ good, bad }) => good + bad)],
    [`${metric}_bucket{${NS},${labels},le="${le}"}`, counter(phases, ({ good }) => good)],
  ];
const http = (route: string, status: number) =>
  `toolgate_http_request_duration_seconds_count{${NS},method="POST",route="${route}",status="${status}"}`;

export const TRAFFIC: Readonly<Record<string, Traffic>> = {
  "tool-calls": separate(http("/api/v1/tools/*", 400), http("/api/v1/tools/*", 500)),
  "key-checks": histogram("toolgate_rpc_duration_seconds", 'rpc="toolgate.key_auth.v1.VerifyService/Verify"', "0.1"),
  "hook-calls": separate(http("/api/v1/hooks/*", 508), http("/api/v1/hooks/*", 503)),
  "hook-starts": histogram("toolgate_hook_start_delay_seconds", 'lane="tool"', "10"),
  "chat-answers": separate(
    `toolgate_turns_ended_total{${NS},lane="chat",outcome="MODEL_FAILED"}`,
    `toolgate_turns_ended_total{${NS},lane="chat",outcome="INTERNAL"}`,
  ),
  "chat-streams": separate(
    `toolgate_chat_streams_ended_total{${NS},kind="answer",outcome="disconnected"}`,
    `toolgate_chat_streams_ended_total{${NS},kind="answer",outcome="cut"}`,
  ),
};

interface Case {
  readonly minute: number;
  readonly fires: readonly Series[];
  /** Besides severity. */
  readonly labels: Readonly<Record<string, string>>;
  readonly quiet: readonly Series[];
}

const tools = { namespace: "tools" };
const due = (queue: string, values: string): Series => [`toolgate_queue_due{${NS},pod="a",queue="${queue}"}`, values];
const installed: Series = [`toolgate_postgres_connections{${NS},job="key-auth",pool="main",state="idle"}`, "1x60"];
/** A gauge that is read until minute 10. */
const GONE = "5x10 stale _x40";

/** For each cause, series on which its alert fires at a minute, and similar ones on which it does not. */
export const CAUSE_CASES: Readonly<Record<string, Case>> = {
  ToolgateProcessDown: {
    minute: 20,
    fires: [
      installed,
      [`up{${NS},job="chat-worker",pod="a"}`, "0x60"],
      [`up{${NS},job="chat-worker",pod="b"}`, "0x60"],
    ],
    labels: { ...tools, job: "chat-worker" },
    quiet: [
      installed,
      [`up{${NS},job="chat-worker",pod="a"}`, "0x60"],
      [`up{${NS},job="chat-worker",pod="b"}`, "1x60"],
      [`up{${NS},job="something-else"}`, "0x60"],
      ['up{namespace="others",job="gateway"}', "0x60"],
    ],
  },
  ToolgatePostgresUnreachable: {
    minute: 20,
    fires: [due("outbox", GONE), due("deliveries", GONE)],
    labels: tools,
    quiet: [due("outbox", GONE), due("deliveries", "0x60")],
  },
  ToolgateNatsUnreachable: {
    minute: 20,
    fires: [[`toolgate_consumer_pending{${NS},consumer="key-auth-usage"}`, GONE]],
    labels: tools,
    quiet: [[`toolgate_consumer_pending{${NS},consumer="key-auth-usage"}`, "0x60"]],
  },
  ToolgateRedisUnreachable: {
    minute: 20,
    fires: [[`toolgate_epochs_read_total{${NS},source="none"}`, "0+1x60"]],
    labels: tools,
    quiet: [
      [`toolgate_epochs_read_total{${NS},source="redis"}`, "0+9x60"],
      [`toolgate_epochs_read_total{${NS},source="none"}`, "7x60"],
    ],
  },
  ToolgateNoSandbox: {
    minute: 20,
    fires: [
      [`toolgate_sandbox_children{${NS},pod="a",state="ready"}`, "0x60"],
      [`toolgate_sandbox_children{${NS},pod="a",state="starting"}`, "2x60"],
    ],
    labels: tools,
    quiet: [
      [`toolgate_sandbox_children{${NS},pod="a",state="ready"}`, "0x60"],
      [`toolgate_sandbox_children{${NS},pod="b",state="ready"}`, "1x60"],
    ],
  },
  ToolgateOutboxStuck: {
    minute: 20,
    fires: [[`toolgate_queue_oldest_due_seconds{${NS},queue="outbox"}`, "301x60"]],
    labels: { ...tools, queue: "outbox" },
    quiet: [
      [`toolgate_queue_oldest_due_seconds{${NS},queue="outbox"}`, "30x60"],
      [`toolgate_queue_oldest_due_seconds{${NS},queue="deliveries"}`, "3000x60"],
    ],
  },
  ToolgateDeliveriesStopped: {
    minute: 40,
    fires: [due("deliveries", "3x60")],
    labels: tools,
    quiet: [due("deliveries", "3x60"), [`toolgate_attempt_duration_seconds_count{${NS},outcome="timeout"}`, "0+1x60"]],
  },
  ToolgateHookRunsStopped: {
    minute: 40,
    fires: [due("hook tools", "3x60")],
    labels: tools,
    quiet: [due("hook tools", "3x60"), [`toolgate_hook_start_delay_seconds_count{${NS},lane="tool"}`, "0+1x60"]],
  },
  ToolgateChatTurnsStopped: {
    minute: 20,
    fires: [due("chat turns", "3x60"), [`toolgate_turns_running{${NS},lane="chat"}`, "0x60"]],
    labels: tools,
    quiet: [due("chat turns", "3x60"), [`toolgate_turns_running{${NS},lane="chat"}`, "1x60"]],
  },
  ToolgateConsumerBehind: {
    minute: 30,
    fires: [[`toolgate_consumer_pending{${NS},consumer="outbound-webhook-workers"}`, "10001x60"]],
    labels: { ...tools, consumer: "outbound-webhook-workers" },
    quiet: [[`toolgate_consumer_pending{${NS},consumer="outbound-webhook-workers"}`, "10000x60"]],
  },
  ToolgateDatabasePoolExhausted: {
    minute: 30,
    fires: [[`toolgate_postgres_waiting{${NS},job="chat-api",pool="main"}`, "4x60"]],
    labels: { ...tools, job: "chat-api", pool: "main" },
    quiet: [
      [
        `toolgate_postgres_waiting{${NS},job="chat-api",pool="main"}`,
        "4 4 0 4 4 4 0 4 4 4 0 4 4 4 0 4 4 4 0 4 4 4 0 4 4 4 0 4 4 4 0",
      ],
    ],
  },
  ToolgateSandboxFull: {
    minute: 30,
    fires: [[`toolgate_sandbox_runs{${NS},pod="a",state="waiting"}`, "2x60"]],
    labels: tools,
    quiet: [[`toolgate_sandbox_runs{${NS},pod="a",state="placed"}`, "2x60"]],
  },
  ToolgateEventLoopBusy: {
    minute: 30,
    fires: [[`nodejs_eventloop_utilization{${NS},job="gateway",pod="a"}`, "0.95x60"]],
    labels: { ...tools, job: "gateway" },
    quiet: [[`nodejs_eventloop_utilization{${NS},job="gateway",pod="a"}`, "0.85x60"]],
  },
};
