import type { Dashboard } from "./panel.ts";
import { quantiles, rate, total } from "./queries.ts";

/** The code of tools: runs, children and what they use. */
export const sandbox: Dashboard = {
  name: "sandbox",
  title: "sandbox",
  rows: [
    {
      title: "Runs and children",
      panels: [
        { title: "Runs", unit: "short", queries: [total("toolgate_sandbox_runs", "state")] },
        { title: "Children", unit: "short", queries: [total("toolgate_sandbox_children", "state")] },
        {
          title: "Children that ended",
          unit: "ops",
          queries: [rate("toolgate_sandbox_children_ended_total", "reason")],
        },
        {
          title: "Duration of runs",
          unit: "s",
          queries: quantiles("toolgate_rpc_duration_seconds", 'rpc=~".*RunService/Run"'),
        },
      ],
    },
    {
      title: "Sandbox processes",
      panels: [
        {
          title: "CPU without children",
          unit: "cores",
          description: "The metrics of the kubelet (container_cpu_usage_seconds_total) include the children.",
          queries: [rate("process_cpu_seconds_total", "pod", 'job=~"tool-runner.*"')],
        },
        {
          title: "Memory without children",
          unit: "bytes",
          queries: [total("process_resident_memory_bytes", "pod", 'job=~"tool-runner.*"')],
        },
      ],
    },
  ],
};
