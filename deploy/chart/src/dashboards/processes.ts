import type { Dashboard } from "./panel.ts";
import { highest, rate, total } from "./queries.ts";

/** Every process by itself: what it uses, and its pools. */
export const processes: Dashboard = {
  name: "processes",
  title: "processes",
  rows: [
    {
      title: "Node",
      panels: [
        { title: "CPU", unit: "cores", queries: [rate("process_cpu_seconds_total", "pod, mode")] },
        { title: "Memory", unit: "bytes", queries: [total("process_resident_memory_bytes", "pod")] },
        { title: "Heap", unit: "bytes", queries: [total("v8js_memory_heap_used", "pod")] },
        {
          title: "Use of the event loop",
          unit: "percentunit",
          queries: [highest("nodejs_eventloop_utilization", "pod")],
        },
        { title: "Delay of the event loop, p99", unit: "s", queries: [highest("nodejs_eventloop_delay_p99", "pod")] },
      ],
    },
    {
      title: "PostgreSQL",
      panels: [
        { title: "Connections", unit: "short", queries: [total("toolgate_postgres_connections", "job, pool, state")] },
        {
          title: "Waiting for a connection",
          unit: "short",
          queries: [total("toolgate_postgres_waiting", "job, pool")],
        },
      ],
    },
  ],
};
