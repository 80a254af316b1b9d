import { type EventType, text } from "../event-type.ts";
import { argumentsAndResult, unlessTruncated } from "./arguments-and-result.ts";

/** IPv4 /24 as a.b.c.0, or IPv6 /48: the last five groups are zero. */
const IP_PREFIX = "^(\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.0|::|([0-9a-f]{1,4}:){1,3}:)$";

const both = (type: string) => ({ properties: { args: { type }, result: { type } } });

/** [EVT-14] [EVT-49] [EVT-50] */
export const publicToolSubmitted: EventType = {
  type: "public_tool.submitted",
  sent: "A call through the public tool API ran a tool; webhook_event of the tool is not needed.",
  data: {
    type: "object",
    properties: {
      tool: text("Name of the tool."),
      success: { type: "boolean" },
      origin: { type: "string", format: "uri", pattern: "^https?://", description: "Page that the call came from." },
      ip_prefix: {
        type: "string",
        pattern: IP_PREFIX,
        description: "The caller's address without its last part: IPv4 /24, IPv6 /48.",
      },
      ...argumentsAndResult,
    },
    required: ["tool", "success", "origin", "ip_prefix", "args", "result"],
    ...unlessTruncated({ anyOf: [both("object"), both("null")] }),
  },
  example: {
    tool: "contact_form",
    success: true,
    origin: "https://shop.example.com",
    ip_prefix: "203.0.113.0",
    args: null,
    result: null,
  },
};
