import type { Dashboard } from "./panel.ts";
import { NOT_REFUSED, quantiles, rate, share, total } from "./queries.ts";

const HTTP = "toolgate_http_request_duration_seconds";
const RPC = "toolgate_rpc_duration_seconds";
const TOOLS = 'route="/api/v1/tools/*"';

/** Tool calls: from the request through the key's check to the run and its records. */
export const calls: Dashboard = {
  name: "calls",
  title: "tool calls",
  rows: [
    {
      title: "At the gateway",
      panels: [
        { title: "Calls by status", unit: "reqps", queries: [rate(`${HTTP}_count`, "status", TOOLS)] },
        { title: "Duration without refusals", unit: "s", queries: quantiles(HTTP, `${TOOLS},${NOT_REFUSED}`) },
        { title: "Refused by a limit", unit: "reqps", queries: [rate("toolgate_refusals_total", "limiter")] },
      ],
    },
    {
      title: "RPCs",
      panels: [
        { title: "Check of the key", unit: "s", queries: quantiles(RPC, 'rpc=~".*VerifyService/Verify"') },
        { title: "Run", unit: "s", queries: quantiles(RPC, 'rpc=~".*RunService/Run"') },
        { title: "RPCs that fail", unit: "reqps", queries: [rate(`${RPC}_count`, "rpc, code", 'code!="ok"')] },
      ],
    },
    {
      title: "Between the services",
      panels: [
        { title: "Call streams opened", unit: "ops", queries: [rate("toolgate_call_streams_opened_total", "rpc")] },
        { title: "Call streams lost", unit: "ops", queries: [rate("toolgate_call_streams_lost_total", "rpc")] },
        { title: "Calls in flight", unit: "short", queries: [total("toolgate_call_stream_calls_in_flight", "rpc")] },
        { title: "Calls in a batch", unit: "short", queries: quantiles("toolgate_call_stream_batch_calls", "", "rpc") },
        { title: "Records that wait for NATS", unit: "short", queries: [total("toolgate_records_waiting", "subject")] },
        {
          title: "Caches that hit",
          unit: "percentunit",
          queries: [share("toolgate_cache_lookups_total", 'result="hit"', "hits")],
        },
        { title: "Lookups in caches", unit: "ops", queries: [rate("toolgate_cache_lookups_total", "cache, result")] },
        {
          title: "Epochs read",
          unit: "ops",
          description: "none: Redis did not answer.",
          queries: [rate("toolgate_epochs_read_total", "source")],
        },
      ],
    },
  ],
};
