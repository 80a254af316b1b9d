import { eventTypeOf } from "@toolgate/event-schemas/catalogue";
import { API_VERSION } from "@toolgate/event-schemas/envelope";

/** Largest body of a delivery. [OUT-17] */
export const MAX_BODY_BYTES = 256 * 1024;

interface EnvelopeParts {
  id: string;
  type: string;
  createdSeconds: number;
  workspace: string;
  /** A JSON object, copied into the body as it is. */
  dataJson: string;
}

/**
 * The bytes of the body, built once per event, so that every attempt and every resend sends the same bytes.
 * Undefined if the body is too large, even without the fields that may be left out.
 */
export function envelopeBytes(parts: EnvelopeParts): Buffer | undefined {
  const whole = encode(parts);
  if (whole.length <= MAX_BODY_BYTES) return whole;
  const fields = eventTypeOf(parts.type)?.nullWhenTooLarge;
  if (!fields) return undefined;
  const nulls = Object.fromEntries(fields.map((field) => [field, null]));
  const data = { ...JSON.parse(parts.dataJson), ...nulls, truncated: true };
  const truncated = encode({ ...parts, dataJson: JSON.stringify(data) });
  return truncated.length <= MAX_BODY_BYTES ? truncated : undefined;
}

function encode({ id, type, createdSeconds, workspace, dataJson }: EnvelopeParts): Buffer {
  const created = new Date(createdSeconds * 1000).toISOString().replace(".000Z", "Z");
  const head = JSON.stringify({ id, type, api_version: API_VERSION, created, workspace });
  return Buffer.from(`${head.slice(0, -1)},"data":${dataJson}}`);
}

/** The time of the event, from its body; undefined if the body has expired. */
export function createdInEnvelope(body: Buffer): Date | undefined {
  return body.length > 0 ? new Date(JSON.parse(body.toString("utf8")).created) : undefined;
}
