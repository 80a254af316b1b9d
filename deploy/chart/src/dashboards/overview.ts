import { OBJECTIVES, ratioSeries } from "../monitoring/objectives.ts";
import type { Dashboard } from "./panel.ts";
import { highest, NOT_REFUSED, quantiles, rate, share, total } from "./queries.ts";

const HTTP = "toolgate_http_request_duration_seconds";
const TOOLS = 'route="/api/v1/tools/*"';

/** The four golden signals of the whole installation, and the budgets of its objectives. */
export const overview: Dashboard = {
  name: "overview",
  title: "overview",
  rows: [
    {
      title: "Objectives",
      panels: [
        {
          title: "Use of the error budgets",
          unit: "percentunit",
          description: "Over 6 hours; at 100 % the budget of 30 days lasts exactly 30 days.",
          queries: OBJECTIVES.map((objective) => ({
            expr: `${ratioSeries(objective, "6h")}{namespace="$namespace"} / ${Number((1 - objective.goal).toPrecision(6))}`,
            legend: objective.title,
          })),
        },
      ],
    },
    {
      title: "Traffic and errors",
      panels: [
        { title: "Requests by route", unit: "reqps", queries: [rate(`${HTTP}_count`, "route")] },
        { title: "Responses by status", unit: "reqps", queries: [rate(`${HTTP}_count`, "status")] },
        {
          title: "Share of 5xx",
          unit: "percentunit",
          queries: [
            share(`${HTTP}_count`, 'status=~"5.."', "all"),
            share(`${HTTP}_count`, 'status=~"5.."', "tool calls", TOOLS),
          ],
        },
        { title: "Refused by a limit", unit: "reqps", queries: [rate("toolgate_refusals_total", "limiter")] },
        { title: "Deliveries that ended", unit: "ops", queries: [rate("toolgate_deliveries_ended_total", "outcome")] },
        { title: "Answers that ended", unit: "ops", queries: [rate("toolgate_turns_ended_total", "outcome")] },
      ],
    },
    {
      title: "Latency",
      panels: [
        { title: "Tool calls without refusals", unit: "s", queries: quantiles(HTTP, `${TOOLS},${NOT_REFUSED}`) },
        {
          title: "Calls of hooks without refusals",
          unit: "s",
          queries: quantiles(HTTP, `route="/api/v1/hooks/*",${NOT_REFUSED}`),
        },
        {
          title: "First text of an answer",
          unit: "s",
          queries: quantiles("toolgate_turn_first_output_seconds", 'lane="chat"'),
        },
      ],
    },
    {
      title: "Saturation",
      panels: [
        { title: "CPU", unit: "cores", queries: [rate("process_cpu_seconds_total", "job")] },
        { title: "Memory", unit: "bytes", queries: [total("process_resident_memory_bytes", "job")] },
        { title: "Busiest event loop", unit: "percentunit", queries: [highest("nodejs_eventloop_utilization", "job")] },
        { title: "Work that is due", unit: "short", queries: [highest("toolgate_queue_due", "queue")] },
        { title: "Waiting for PostgreSQL", unit: "short", queries: [total("toolgate_postgres_waiting", "job, pool")] },
        {
          title: "Messages that wait in NATS",
          unit: "short",
          queries: [highest("toolgate_consumer_pending", "consumer")],
        },
      ],
    },
  ],
};
