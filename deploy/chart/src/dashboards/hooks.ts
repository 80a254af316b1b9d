import type { Dashboard } from "./panel.ts";
import { highest, NOT_REFUSED, quantiles, rate } from "./queries.ts";

const HTTP = "toolgate_http_request_duration_seconds";
const ROUTE = 'route="/api/v1/hooks/*"';
const QUEUES = 'queue=~"hook tools|hook assistants|hook turns"';

/** Incoming hooks: calls that arrive, and the runs of their targets. */
export const hooks: Dashboard = {
  name: "hooks",
  title: "incoming hooks",
  rows: [
    {
      title: "Calls",
      panels: [
        { title: "Calls by status", unit: "reqps", queries: [rate(`${HTTP}_count`, "status", ROUTE)] },
        { title: "Time to accept", unit: "s", queries: quantiles(HTTP, `${ROUTE},${NOT_REFUSED}`) },
        {
          title: "Refused by a limit",
          unit: "reqps",
          queries: [rate("toolgate_refusals_total", "limiter", 'limiter=~"hook.*"')],
        },
      ],
    },
    {
      title: "Runs",
      panels: [
        { title: "Runs that ended", unit: "ops", queries: [rate("toolgate_hook_runs_ended_total", "lane, outcome")] },
        {
          title: "From acceptance to start",
          unit: "s",
          queries: quantiles("toolgate_hook_start_delay_seconds", "", "lane"),
        },
        { title: "Due and not started", unit: "short", queries: [highest("toolgate_queue_due", "queue", QUEUES)] },
        {
          title: "Oldest that is due",
          unit: "s",
          queries: [highest("toolgate_queue_oldest_due_seconds", "queue", QUEUES)],
        },
      ],
    },
  ],
};
