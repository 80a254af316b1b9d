import { type JsonSchema, object, text } from "../event-type.ts";

/** The data of a scheduled task that ended. [EVT-48] */
export function scheduledTaskData(success: boolean): JsonSchema {
  return object({
    task: text("Name of the scheduled task."),
    tool: text("Name of the tool that it ran."),
    success: { const: success },
    error: { type: success ? "null" : ["string", "null"], description: "Why it failed; null when nothing is known." },
    duration_ms: { type: "integer", minimum: 0, description: "Milliseconds." },
  });
}
