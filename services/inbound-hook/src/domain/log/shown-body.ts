import { createRedactor } from "@toolgate/redaction/redactor";
import { parseBody } from "../call/body.ts";

const redact = createRedactor({ underscored: "keep" });

/**
 * [IN-12] A stored body as the log shows it: parsed as for the target, with the values of secret-looking names
 * replaced. A body that cannot be parsed is not shown.
 */
export function shownBody(bytes: Uint8Array, contentType: string): Buffer {
  const parsed = parseBody(bytes, contentType, "");
  if (!parsed.ok) return Buffer.alloc(0);
  const value = redact(parsed.value) as Record<string, unknown>;
  return Buffer.from(parsed.isForm ? formText(value) : JSON.stringify(value));
}

function formText(fields: Record<string, unknown>): string {
  const written = new URLSearchParams();
  for (const [name, values] of Object.entries(fields)) {
    for (const value of [values].flat()) written.append(name, String(value));
  }
  return written.toString();
}
