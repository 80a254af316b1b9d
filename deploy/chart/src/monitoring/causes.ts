import { splitProcesses } from "../processes.ts";

/** An alert on a cause that no objective shows in time, or shows only as another fault. */
export interface Cause {
  readonly alert: string;
  /** The name of its page in docs/runbooks. */
  readonly runbook: string;
  readonly severity: "page" | "ticket";
  readonly expr: string;
  /** How long it must hold. */
  readonly minutes: number;
  readonly summary: string;
}

const JOBS = [...Object.keys(splitProcesses()), "toolgate"].join("|");
/** Namespaces that have an installation, since other software may have a job called gateway. */
const INSTALLED = "group by (namespace) (present_over_time(toolgate_postgres_connections[6h]))";

/** A gauge that is read from a server is left out of a scrape when the server does not answer. */
const noLongerRead = (metric: string) =>
  `group by (namespace) (present_over_time(${metric}[6h])) unless group by (namespace) (${metric})`;
/** Work is due, and none of it begins. */
const standsStill = (queues: string, begun: string) =>
  `max by (namespace) (toolgate_queue_due{queue=~"${queues}"}) > 0 unless on (namespace) ${begun} > 0`;

export const CAUSES: readonly Cause[] = [
  {
    alert: "ToolgateProcessDown",
    runbook: "process-down",
    severity: "page",
    expr: `sum by (namespace, job) (up{job=~"${JOBS}"}) == 0 and on (namespace) ${INSTALLED}`,
    minutes: 2,
    summary: "No replica of {{ $labels.job }} is up",
  },
  {
    alert: "ToolgatePostgresUnreachable",
    runbook: "postgres-unreachable",
    severity: "page",
    expr: noLongerRead("toolgate_queue_due"),
    minutes: 2,
    summary: "No process can read its queues in PostgreSQL",
  },
  {
    alert: "ToolgateNatsUnreachable",
    runbook: "nats-unreachable",
    severity: "page",
    expr: noLongerRead("toolgate_consumer_pending"),
    minutes: 2,
    summary: "No process can read the state of its consumers in NATS",
  },
  {
    alert: "ToolgateRedisUnreachable",
    runbook: "redis-unreachable",
    severity: "page",
    expr: 'sum by (namespace) (rate(toolgate_epochs_read_total{source="none"}[5m])) > 0',
    minutes: 2,
    summary: "Redis does not answer: calls are slower, and limits are counted per process",
  },
  {
    alert: "ToolgateNoSandbox",
    runbook: "no-sandbox",
    severity: "page",
    expr: 'sum by (namespace) (toolgate_sandbox_children{state="ready"}) == 0',
    minutes: 2,
    summary: "No child of the sandbox is ready: tools cannot run",
  },
  {
    alert: "ToolgateOutboxStuck",
    runbook: "outbox-stuck",
    severity: "page",
    expr: 'max by (namespace, queue) (toolgate_queue_oldest_due_seconds{queue=~"outbox|audit"}) > 300',
    minutes: 5,
    summary: "Events in the {{ $labels.queue }} table are not published",
  },
  {
    alert: "ToolgateDeliveriesStopped",
    runbook: "deliveries-stopped",
    severity: "page",
    expr: standsStill("deliveries", "sum by (namespace) (rate(toolgate_attempt_duration_seconds_count[10m]))"),
    minutes: 10,
    summary: "Deliveries are due, and no worker makes an attempt",
  },
  {
    alert: "ToolgateHookRunsStopped",
    runbook: "hook-runs-stopped",
    severity: "page",
    expr: standsStill(
      "hook tools|hook assistants",
      "sum by (namespace) (rate(toolgate_hook_start_delay_seconds_count[10m]))",
    ),
    minutes: 10,
    summary: "Accepted calls of hooks are due, and no run starts",
  },
  {
    alert: "ToolgateChatTurnsStopped",
    runbook: "chat-turns-stopped",
    severity: "page",
    expr: standsStill("chat turns|hook turns", "sum by (namespace) (toolgate_turns_running)"),
    minutes: 3,
    summary: "Messages of chats wait, and no worker answers any",
  },
  {
    alert: "ToolgateConsumerBehind",
    runbook: "consumer-behind",
    severity: "ticket",
    expr: "max by (namespace, consumer) (toolgate_consumer_pending) > 10000",
    minutes: 15,
    summary: "More than 10,000 messages wait for {{ $labels.consumer }}",
  },
  {
    alert: "ToolgateDatabasePoolExhausted",
    runbook: "database-pool-exhausted",
    severity: "ticket",
    expr: "max by (namespace, job, pool) (min_over_time(toolgate_postgres_waiting[5m])) > 0",
    minutes: 10,
    summary: "Work in {{ $labels.job }} always waits for a connection to PostgreSQL ({{ $labels.pool }})",
  },
  {
    alert: "ToolgateSandboxFull",
    runbook: "sandbox-full",
    severity: "ticket",
    expr: 'sum by (namespace) (min_over_time(toolgate_sandbox_runs{state="waiting"}[5m])) > 0',
    minutes: 10,
    summary: "Runs always wait for a child of the sandbox",
  },
  {
    alert: "ToolgateEventLoopBusy",
    runbook: "event-loop-busy",
    severity: "ticket",
    expr: "max by (namespace, job) (avg_over_time(nodejs_eventloop_utilization[5m])) > 0.9",
    minutes: 10,
    summary: "A process of {{ $labels.job }} uses a whole core",
  },
];
