import { type EventData, type JsonSchema, object, text } from "../event-type.ts";
import { line } from "../fields.ts";

const MAX_NAME_CHARS = 200;

/** The data of a scheduled task that ended. [EVT-48] */
export function scheduledTaskSchema(success: boolean): JsonSchema {
  return object({
    task: text("Name of the scheduled task."),
    tool: text("Name of the tool that it ran."),
    success: { const: success },
    error: { type: success ? "null" : ["string", "null"], description: "Why it failed; null when nothing is known." },
    duration_ms: { type: "integer", minimum: 0, description: "Milliseconds." },
  });
}

/** [EVT-48] */
export function scheduledTaskData(
  { task, tool, durationMs }: { task: string; tool: string; durationMs: number },
  end: { success: boolean; error: string | null },
): EventData {
  return {
    task: line(task, "task", MAX_NAME_CHARS),
    tool: line(tool, "tool", MAX_NAME_CHARS),
    ...end,
    duration_ms: durationMs,
  };
}
