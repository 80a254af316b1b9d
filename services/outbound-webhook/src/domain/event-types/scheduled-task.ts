import type { ScheduledTaskCompleted, ScheduledTaskFailed } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { shownError } from "@toolgate/redaction/error-text";
import { line } from "./field.ts";
import type { Happening } from "./happening.ts";

const MAX_NAME_CHARS = 200;

/** [EVT-12] [EVT-48] */
export function scheduledTaskCompleted(report: ScheduledTaskCompleted): Happening {
  const data = { ...namesOf(report), success: true, error: null, duration_ms: report.durationMs };
  return { events: [{ type: "scheduled_task.completed", data }] };
}

/** [EVT-13] [EVT-48] */
export function scheduledTaskFailed(report: ScheduledTaskFailed): Happening {
  const error = report.error === undefined ? null : shownError(report.error);
  const data = { ...namesOf(report), success: false, error, duration_ms: report.durationMs };
  return { events: [{ type: "scheduled_task.failed", data }] };
}

function namesOf({ task, tool }: { task: string; tool: string }) {
  return { task: line(task, "task", MAX_NAME_CHARS), tool: line(tool, "tool", MAX_NAME_CHARS) };
}
