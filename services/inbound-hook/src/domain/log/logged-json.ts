/** [IN-12] At most this many bytes of the arguments, the result or the reply are logged. */
export const MAX_LOGGED_BYTES = 65_536;

const MAX_ERROR_CHARACTERS = 2_000;

/** A value's JSON text, redacted, or only its length if it is too long for the log. */
export function loggedJson(json: string, redact: (value: unknown) => unknown): string {
  // Redacting a long value only to learn its length would block the event loop.
  if (isTooLong(json)) return lengthOnly(json);
  const redacted = JSON.stringify(redact(JSON.parse(json))) ?? "null";
  return isTooLong(redacted) ? lengthOnly(redacted) : redacted;
}

/** [IN-63] The text, cut at the limit and without what Postgres cannot store. */
export function loggedText(text: string): string {
  const storable = storableText(text.slice(0, MAX_LOGGED_BYTES));
  if (!isTooLong(storable)) return storable;
  // A character that the cut has split becomes U+FFFD, which must not exceed the limit again.
  return Buffer.from(storable)
    .subarray(0, MAX_LOGGED_BYTES)
    .toString("utf8")
    .replace(/\uFFFD$/, "");
}

export function loggedError(error: string): string {
  return storableText(error.slice(0, MAX_ERROR_CHARACTERS));
}

/** Without NUL and unpaired surrogates, which Postgres refuses. */
function storableText(text: string): string {
  return text.replaceAll("\u0000", "").toWellFormed();
}

function isTooLong(text: string): boolean {
  return Buffer.byteLength(text) > MAX_LOGGED_BYTES;
}

function lengthOnly(json: string): string {
  return JSON.stringify({ truncated: true, characters: json.length });
}
