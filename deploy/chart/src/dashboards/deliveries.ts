import type { Dashboard } from "./panel.ts";
import { highest, quantiles, rate, share } from "./queries.ts";

const QUEUES = 'queue=~"deliveries|outbox"';

/** Outgoing webhooks: from the outbox through the fan-out to the attempts. */
export const deliveries: Dashboard = {
  name: "deliveries",
  title: "deliveries",
  rows: [
    {
      title: "What receivers get",
      panels: [
        {
          title: "Attempts by outcome",
          unit: "ops",
          queries: [rate("toolgate_attempt_duration_seconds_count", "outcome")],
        },
        { title: "Duration of attempts", unit: "s", queries: quantiles("toolgate_attempt_duration_seconds") },
        { title: "Deliveries that ended", unit: "ops", queries: [rate("toolgate_deliveries_ended_total", "outcome")] },
        {
          title: "Share that failed for good",
          unit: "percentunit",
          queries: [share("toolgate_deliveries_ended_total", 'outcome="failed"', "failed")],
        },
      ],
    },
    {
      title: "Queues",
      panels: [
        { title: "Due and not taken", unit: "short", queries: [highest("toolgate_queue_due", "queue", QUEUES)] },
        {
          title: "Oldest that is due",
          unit: "s",
          queries: [highest("toolgate_queue_oldest_due_seconds", "queue", QUEUES)],
        },
        {
          title: "Messages that wait",
          unit: "short",
          queries: [highest("toolgate_consumer_pending", "consumer", 'consumer=~"outbound-webhook.*"')],
        },
        {
          title: "Messages not acknowledged",
          unit: "short",
          queries: [highest("toolgate_consumer_unacknowledged", "consumer", 'consumer=~"outbound-webhook.*"')],
        },
        {
          title: "CPU of workers",
          unit: "cores",
          queries: [rate("process_cpu_seconds_total", "pod", 'job="outbound-webhook-worker"')],
        },
      ],
    },
  ],
};
