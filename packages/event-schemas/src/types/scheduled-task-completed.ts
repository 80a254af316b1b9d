import { type EventType, reportedAs } from "../event-type.ts";
import { scheduledTaskData, scheduledTaskSchema } from "./scheduled-task.ts";

/** [EVT-12] [EVT-48] */
export const scheduledTaskCompleted: EventType = {
  type: "scheduled_task.completed",
  sent: "A scheduled task succeeded.",
  hasSource: false,
  data: scheduledTaskSchema(true),
  example: { task: "Nightly stock report", tool: "stock_report", success: true, error: null, duration_ms: 1840 },
  report: reportedAs("scheduledTaskCompleted", (report) => scheduledTaskData(report, { success: true, error: null }), {
    task: "Nightly stock report",
    tool: "stock_report",
    durationMs: 1840,
  }),
};
