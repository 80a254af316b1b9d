/** Endings of member names, in lower case and without separators, whose values never reach a log line. */
const SECRET_ENDINGS = [
  "password",
  "passwd",
  "secret",
  "secrets",
  "token",
  "tokens",
  "authorization",
  "cookie",
  "url",
  "dsn",
  "apikey",
  "privatekey",
  "servicekey",
  "principal",
  "grant",
  "credential",
  "credentials",
  "connectionstring",
];
/** The members of an error that are logged. Others may contain data, such as the row in the detail of a pg error. */
const ERROR_MEMBERS = ["code", "status", "severity", "schema", "table", "column", "constraint", "syscall"] as const;
const MAX_DEPTH = 8;
const MAX_MEMBERS = 100;
const MAX_TEXT_CHARACTERS = 16_384;

const REMOVED = "[removed]";

/**
 * The part of a value that may be logged: secret members at any depth and credentials in URLs are replaced. Errors
 * become plain objects with type, message, stack, code and cause; byte arrays become their length; anything nested too
 * deeply is cut.
 */
export function redacted(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return withoutCredentials(value);
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return "[too deep]";
  if (value instanceof Error) return redactedError(value, depth);
  if (value instanceof Date) return value;
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (value instanceof Set) return redacted([...value], depth);
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((one) => redacted(one, depth + 1));
  const members = isPairs(value) ? [...value] : Object.entries(value);
  return Object.fromEntries(
    members
      .slice(0, MAX_MEMBERS)
      .map(([name, member]) => [String(name), isSecret(String(name)) ? REMOVED : redacted(member, depth + 1)]),
  );
}

function redactedError(error: Error, depth: number): Record<string, unknown> {
  const plain: Record<string, unknown> = {
    type: error.name,
    message: withoutCredentials(error.message),
    stack: withoutCredentials(error.stack ?? ""),
  };
  for (const name of ERROR_MEMBERS) {
    const member = (error as unknown as Record<string, unknown>)[name];
    if (typeof member === "string" || typeof member === "number") plain[name] = member;
  }
  if (error.cause !== undefined) plain.cause = redacted(error.cause, depth + 1);
  if (error instanceof AggregateError) plain.errors = redacted(error.errors, depth + 1);
  return plain;
}

function isPairs(value: object): value is Iterable<[unknown, unknown]> {
  return value instanceof Map || value instanceof Headers;
}

function isSecret(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[-_.\s]/g, "");
  return SECRET_ENDINGS.some((ending) => plain.endsWith(ending));
}

/** Removes the credentials from `scheme://user:password@host`. */
function withoutCredentials(text: string): string {
  return text.slice(0, MAX_TEXT_CHARACTERS).replaceAll(/:\/\/[^\s/?#"'<>]*@/g, `://${REMOVED}@`);
}
