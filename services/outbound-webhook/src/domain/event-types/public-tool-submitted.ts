import type { PublicToolSubmitted } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { shortIp } from "@toolgate/short-ip/short-ip";
import { InvalidField, line } from "./field.ts";
import type { Happening } from "./happening.ts";

const MAX_NAME_CHARS = 200;
const MAX_ORIGIN_CHARS = 2_048;

export type Redact = (value: unknown) => unknown;

/** [EVT-14] [EVT-49] [EVT-50] Only the shortened address leaves this function. */
export function publicToolSubmitted(report: PublicToolSubmitted, redact: Redact): Happening {
  const { success, webhookEvent } = report;
  const tool = line(report.tool, "tool", MAX_NAME_CHARS);
  const origin = originOf(report.origin);
  const ip_prefix = shortIp(report.ip);
  if (ip_prefix === "") throw new InvalidField("ip", "is no IP address");
  const args = webhookEvent ? redact(argsOf(report.argsJson)) : null;
  const result = webhookEvent ? redact(resultOf(report)) : null;
  const data = { tool, success, origin, ip_prefix, args, result };
  return { events: [{ type: "public_tool.submitted", data }] };
}

/** Without path and query, which may hold what is nobody else's business. */
function originOf(value: string): string {
  const url = URL.canParse(value) && value.length <= MAX_ORIGIN_CHARS ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new InvalidField("origin", "is no http or https URL");
  return url.origin;
}

function argsOf(json: string): Record<string, unknown> {
  const args = parse(json, "args_json");
  if (!isObject(args)) throw new InvalidField("args_json", "is not JSON text of an object");
  return args;
}

/** As in tool.completed: always an object. */
function resultOf({ resultJson, success }: PublicToolSubmitted): Record<string, unknown> {
  const result = resultJson === "" ? undefined : parse(resultJson, "result_json");
  if (isObject(result)) return result;
  return success ? { value: result ?? null } : {};
}

function parse(json: string, field: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new InvalidField(field, "is not JSON text");
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
