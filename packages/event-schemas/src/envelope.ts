import { CUSTOM_PATTERN, displayName } from "./catalogue.ts";
import type { EventType, JsonSchema } from "./event-type.ts";

/** Date of the event format; changes only when the format of an existing event changes. [WVER-1] */
export const API_VERSION = "2026-11-01";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";
const EXAMPLE_ID = "evt_4be1c9f0a1d94c1e8f0b7d2a63c5e812";
const EXAMPLE_CREATED = "2026-11-21T08:13:19Z";

/**
 * The JSON Schema of a whole delivery body of this type. [EVT-1..6]
 * @param id where the schema is published
 */
export function eventSchema(kind: EventType, id: string): JsonSchema {
  return {
    $schema: DIALECT,
    $id: id,
    title: displayName(kind),
    description: kind.sent,
    type: "object",
    properties: {
      id: {
        type: "string",
        pattern: "^evt_[0-9a-f]{32}$",
        description: "Id of the event, the same in every delivery.",
      },
      type: typeSchema(kind),
      api_version: { const: API_VERSION, description: "Version of the event format." },
      created: {
        type: "string",
        format: "date-time",
        pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$",
        description: "Time of the event in UTC, not of the attempt.",
      },
      workspace: { type: "string", minLength: 1, description: "Code of the workspace." },
      data: kind.data,
    },
    required: ["id", "type", "api_version", "created", "workspace", "data"],
    examples: [exampleEvent(kind)],
  };
}

/** A whole body as an example. */
export function exampleEvent({ type, example }: EventType): Record<string, unknown> {
  return {
    id: EXAMPLE_ID,
    type: type === "custom" ? "custom.order.paid" : type,
    api_version: API_VERSION,
    created: EXAMPLE_CREATED,
    workspace: "acme",
    data: example,
  };
}

function typeSchema({ type }: EventType): JsonSchema {
  if (type !== "custom") return { const: type };
  return {
    type: "string",
    pattern: CUSTOM_PATTERN,
    description: "custom. followed by the name that the tool chose.",
  };
}
