import type { EventType } from "../event-type.ts";
import { scheduledTaskData } from "./scheduled-task.ts";

/** [EVT-12] [EVT-48] */
export const scheduledTaskCompleted: EventType = {
  type: "scheduled_task.completed",
  sent: "A scheduled task succeeded.",
  data: scheduledTaskData(true),
  example: { task: "Nightly stock report", tool: "stock_report", success: true, error: null, duration_ms: 1840 },
};
