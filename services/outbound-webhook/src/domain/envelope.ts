import { eventTypeOf } from "@toolgate/event-schemas/catalogue";
import { API_VERSION } from "@toolgate/event-schemas/envelope";

/** Largest body of a delivery. [OUT-17] */
export const MAX_BODY_BYTES = 256 * 1024;

export interface EnvelopeParts {
  id: string;
  type: string;
  createdSeconds: number;
  workspace: string;
  /** JSON text of an object. */
  dataJson: string;
}

/**
 * The bytes of the body, built once per event: every attempt and every resend sends the same. The text of `data` is
 * copied as it is. Undefined when the body is too large and the type has no fields that may be left out.
 */
export function envelopeBytes(parts: EnvelopeParts): Buffer | undefined {
  const whole = encode(parts);
  if (whole.length <= MAX_BODY_BYTES) return whole;
  const left = eventTypeOf(parts.type)?.nullWhenTooLarge;
  if (!left) return undefined;
  const nulls = Object.fromEntries(left.map((field) => [field, null]));
  const data = { ...JSON.parse(parts.dataJson), ...nulls, truncated: true };
  const cut = encode({ ...parts, dataJson: JSON.stringify(data) });
  return cut.length <= MAX_BODY_BYTES ? cut : undefined;
}

function encode({ id, type, createdSeconds, workspace, dataJson }: EnvelopeParts): Buffer {
  const created = new Date(createdSeconds * 1000).toISOString().replace(".000Z", "Z");
  const head = JSON.stringify({ id, type, api_version: API_VERSION, created, workspace });
  return Buffer.from(`${head.slice(0, -1)},"data":${dataJson}}`);
}

/** The time of the event, from the bytes of its body; undefined when the body is gone. */
export function createdInEnvelope(body: Buffer): Date | undefined {
  if (body.length === 0) return undefined;
  const { created } = JSON.parse(body.toString("utf8"));
  const time = new Date(created);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
