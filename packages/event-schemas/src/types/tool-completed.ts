import { type EventType, text } from "../event-type.ts";
import { argumentsAndResult, NULL_WHEN_TOO_LARGE, unlessTruncated } from "./tool-call.ts";

/** [EVT-8] [EVT-23] */
export const toolCompleted: EventType = {
  type: "tool.completed",
  sent:
    "A tool with the flag webhook_event finished, with success or an error, after a start from a chat, by API key, by " +
    "a scheduled task or through the public tool API.",
  hasSource: true,
  data: {
    type: "object",
    properties: {
      tool: text("Name of the tool."),
      success: { type: "boolean" },
      error: { type: ["string", "null"], description: "Null if the tool succeeded." },
      entry_type: { type: "string", description: "Who started it: api_key, chat, scheduled_task or public_api." },
      execution_id: text("Id of the run in the execution log."),
      duration_ms: { type: "integer", minimum: 0, description: "Milliseconds." },
      ...argumentsAndResult,
    },
    required: ["tool", "success", "error", "entry_type", "execution_id", "duration_ms", "args", "result"],
    ...unlessTruncated({ properties: { args: { type: "object" }, result: { type: "object" } } }),
  },
  example: {
    tool: "order_status",
    success: true,
    error: null,
    entry_type: "api_key",
    execution_id: "01977f6e-3c1a-7cc2-9d51-2f0f4a1b6c55",
    duration_ms: 41,
    args: { order: "A-1001", api_key: "[entfernt]" },
    result: { success: true, status: "shipped" },
  },
  nullWhenTooLarge: NULL_WHEN_TOO_LARGE,
};
