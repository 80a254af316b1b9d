import { createRedactor } from "@toolgate/redaction/redactor";

const LINE_CHARS = 1_000;
/** Marks a line with objects; no other line that is stored can begin with it. */
const STRUCTURED = "\0";
/** More than the guest sends. */
const MAX_STRUCTURED_CHARS = 12_000;

const redact = createRedactor();

/**
 * A line as the log shows it. `sent` is text, or text with objects: a list of texts, and of lists with the JSON text of one
 * object each. In objects the same names are redacted as in arguments and results.
 */
export function shownLine(sent: string): string {
  return (sent.startsWith(STRUCTURED) ? withObjects(sent) : sent).slice(0, LINE_CHARS);
}

function withObjects(sent: string): string {
  if (sent.length >= MAX_STRUCTURED_CHARS) return "(a line with objects that are too long to show)";
  try {
    const words: unknown[] = JSON.parse(sent.slice(STRUCTURED.length));
    return words
      .map((word) => (Array.isArray(word) ? JSON.stringify(redact(JSON.parse(String(word[0])))) : String(word)))
      .join(" ");
  } catch {
    // Only code that has broken out of its isolate sends such a line.
    return "(a line that cannot be read)";
  }
}
