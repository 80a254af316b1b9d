import type { EventType } from "../event-type.ts";
import { scheduledTaskData } from "./scheduled-task.ts";

/** [EVT-13] [EVT-48] */
export const scheduledTaskFailed: EventType = {
  type: "scheduled_task.failed",
  sent: "A scheduled task failed.",
  data: scheduledTaskData(false),
  example: {
    task: "Nightly stock report",
    tool: "stock_report",
    success: false,
    error: "the warehouse did not answer",
    duration_ms: 30012,
  },
};
