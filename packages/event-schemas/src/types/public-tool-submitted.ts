import type { PublicToolSubmitted } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { shortIp } from "@toolgate/ip-address/ip-address";
import { createRedactor } from "@toolgate/redaction/redactor";
import { isJsonObject } from "@toolgate/rules/json-object";
import { type EventData, type EventType, reportedAs, text } from "../event-type.ts";
import { InvalidField, line } from "../fields.ts";
import { argumentsAndResult, NULL_WHEN_TOO_LARGE, unlessTruncated } from "./tool-call.ts";

const MAX_NAME_CHARS = 200;
const MAX_ORIGIN_CHARS = 2_048;

/** IPv4 /24 as a.b.c.0, or IPv6 /48: the last five groups are zero. */
const IP_PREFIX = "^(\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.0|::|([0-9a-f]{1,4}:){1,3}:)$";

const both = (type: string) => ({ properties: { args: { type }, result: { type } } });
const redact = createRedactor();

/** [EVT-14] [EVT-49] [EVT-50] */
export const publicToolSubmitted: EventType = {
  type: "public_tool.submitted",
  sent: "A call through the public tool API ran a tool; the tool does not need the flag webhook_event.",
  hasSource: false,
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
  nullWhenTooLarge: NULL_WHEN_TOO_LARGE,
  report: reportedAs("publicToolSubmitted", dataOf, {
    tool: "contact_form",
    success: true,
    origin: "https://shop.example.com/contact?token=x",
    ip: "203.0.113.77",
  }),
};

function dataOf(report: PublicToolSubmitted): EventData {
  const { success, webhookEvent } = report;
  const tool = line(report.tool, "tool", MAX_NAME_CHARS);
  const origin = originOf(report.origin);
  const ip_prefix = shortIp(report.ip);
  if (ip_prefix === "") throw new InvalidField("ip", "must be an IP address");
  const args = webhookEvent ? redact(argsOf(report.argsJson)) : null;
  const result = webhookEvent ? redact(resultOf(report)) : null;
  return { tool, success, origin, ip_prefix, args, result };
}

/** Path and query are left out: they may contain private data. */
function originOf(value: string): string {
  const url = value.length <= MAX_ORIGIN_CHARS ? URL.parse(value) : null;
  if (!url || !/^https?:$/.test(url.protocol)) throw new InvalidField("origin", "must be an http or https URL");
  return url.origin;
}

function argsOf(json: string): object {
  const args = parse(json, "args_json");
  if (isJsonObject(args)) return args;
  throw new InvalidField("args_json", "must be a JSON object");
}

/** Always an object, as in tool.completed. */
function resultOf({ resultJson, success }: PublicToolSubmitted): object {
  const result = resultJson === "" ? undefined : parse(resultJson, "result_json");
  if (isJsonObject(result)) return result;
  return success ? { value: result ?? null } : {};
}

function parse(json: string, field: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new InvalidField(field, "must be JSON");
  }
}
