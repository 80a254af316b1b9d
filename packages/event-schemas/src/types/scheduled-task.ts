import { shownError } from "@toolgate/redaction/error-text";
import { type EventData, type EventType, type JsonSchema, object, reportedAs, text } from "../event-type.ts";
import { line } from "../fields.ts";

const MAX_NAME_CHARS = 200;

/** [EVT-12] [EVT-48] */
export const scheduledTaskCompleted: EventType = {
  type: "scheduled_task.completed",
  sent: "A scheduled task succeeded.",
  hasSource: false,
  data: endedTask({ const: true }, { type: "null" }),
  example: { task: "Nightly stock report", tool: "stock_report", success: true, error: null, duration_ms: 1840 },
  report: reportedAs("scheduledTaskCompleted", (report) => dataOf(report, { success: true, error: null }), {
    task: "Nightly stock report",
    tool: "stock_report",
    durationMs: 1840,
  }),
};

/** [EVT-13] [EVT-48] */
export const scheduledTaskFailed: EventType = {
  type: "scheduled_task.failed",
  sent: "A scheduled task failed.",
  hasSource: false,
  data: endedTask({ const: false }, { type: ["string", "null"] }),
  example: {
    task: "Nightly stock report",
    tool: "stock_report",
    success: false,
    error: "the warehouse did not respond",
    duration_ms: 30012,
  },
  report: reportedAs(
    "scheduledTaskFailed",
    (report) => dataOf(report, { success: false, error: report.error === undefined ? null : shownError(report.error) }),
    {
      task: "Nightly stock report",
      tool: "stock_report",
      durationMs: 30012,
      error: "the warehouse did not respond\n    at run (stock.js:3:7)",
    },
  ),
};

function endedTask(success: JsonSchema, error: JsonSchema): JsonSchema {
  return object({
    task: text("Name of the scheduled task."),
    tool: text("Name of the tool that it ran."),
    success,
    error: { ...error, description: "Why it failed; null if nothing is known." },
    duration_ms: { type: "integer", minimum: 0, description: "Milliseconds." },
  });
}

function dataOf(
  { task, tool, durationMs }: { task: string; tool: string; durationMs: number },
  end: { success: boolean; error: string | null },
): EventData {
  const names = { task: line(task, "task", MAX_NAME_CHARS), tool: line(tool, "tool", MAX_NAME_CHARS) };
  return { ...names, ...end, duration_ms: durationMs };
}
