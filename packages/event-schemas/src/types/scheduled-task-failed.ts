import { shownError } from "@toolgate/redaction/error-text";
import { type EventType, reportedAs } from "../event-type.ts";
import { scheduledTaskData, scheduledTaskSchema } from "./scheduled-task.ts";

/** [EVT-13] [EVT-48] */
export const scheduledTaskFailed: EventType = {
  type: "scheduled_task.failed",
  sent: "A scheduled task failed.",
  hasSource: false,
  data: scheduledTaskSchema(false),
  example: {
    task: "Nightly stock report",
    tool: "stock_report",
    success: false,
    error: "the warehouse did not respond",
    duration_ms: 30012,
  },
  report: reportedAs(
    "scheduledTaskFailed",
    (report) => {
      const error = report.error === undefined ? null : shownError(report.error);
      return scheduledTaskData(report, { success: false, error });
    },
    {
      task: "Nightly stock report",
      tool: "stock_report",
      durationMs: 30012,
      error: "the warehouse did not respond\n    at run (stock.js:3:7)",
    },
  ),
};
