/** How a body may have changed between signing and verifying. */
export type BodyMistake =
  | "body-reserialised"
  | "trailing-newline"
  | "line-endings"
  | "encoding"
  | "surrounding-space"
  | "other-body";

const NEWLINE = Buffer.from("\n");
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * The body with each of the usual changes made, and with each undone, because the user may have pasted the sender's or
 * the receiver's version. Never includes the body itself. Never throws.
 */
export function changedBodies(body: Buffer): { mistake: BodyMistake; body: Buffer }[] {
  const latin = body.toString("latin1");
  const text = body.toString("utf8");
  const found = new Map<string, { mistake: BodyMistake; body: Buffer }>();
  const add = (mistake: BodyMistake, changed: Buffer) => {
    const key = changed.toString("latin1");
    if (key !== latin && !found.has(key)) found.set(key, { mistake, body: changed });
  };
  add("trailing-newline", Buffer.concat([body, NEWLINE]));
  add("trailing-newline", Buffer.concat([body, Buffer.from("\r\n")]));
  add("trailing-newline", Buffer.from(latin.replace(/\r?\n$/, ""), "latin1"));
  add("line-endings", Buffer.from(latin.replaceAll("\r\n", "\n"), "latin1"));
  add("line-endings", Buffer.from(latin.replace(/(?<!\r)\n/g, "\r\n"), "latin1"));
  add("encoding", Buffer.from(latin, "utf8"));
  if (isLatin1(text)) add("encoding", Buffer.from(text, "latin1"));
  add("surrounding-space", Buffer.from(text.trim(), "utf8"));
  add("surrounding-space", Buffer.concat([BYTE_ORDER_MARK, body]));
  for (const rewritten of rewrittenJson(text)) add("body-reserialised", Buffer.from(rewritten, "utf8"));
  return [...found.values()];
}

function isLatin1(text: string): boolean {
  return Buffer.from(text, "latin1").toString("latin1") === text;
}

/** The JSON as common libraries write it: JavaScript's, with indents, Python's, PHP's. */
function rewrittenJson(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    const compact = JSON.stringify(value);
    const spaced = respace(compact, ": ", ", ");
    return [
      compact,
      respace(text, ":", ","),
      JSON.stringify(value, null, 2),
      JSON.stringify(value, null, 4),
      JSON.stringify(value, null, "\t"),
      spaced,
      asciiOnly(spaced),
      asciiOnly(compact),
      asciiOnly(compact).replaceAll("/", "\\/"),
    ];
  } catch {
    // Not JSON, or nested too deeply to be written.
    return [];
  }
}

/** The same tokens with other spaces; strings and numbers stay as they are. */
function respace(text: string, colon: string, comma: string): string {
  return text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|[ \t\r\n]+|:|,/gs, (token) => {
    if (token === ":") return colon;
    if (token === ",") return comma;
    return token.startsWith('"') ? token : "";
  });
}

function asciiOnly(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Whether two bodies are the same JSON value, ignoring order and spaces. */
export function isSameJson(left: Buffer, right: Buffer): boolean {
  try {
    return canonical(JSON.parse(left.toString("utf8"))) === canonical(JSON.parse(right.toString("utf8")));
  } catch {
    return false;
  }
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  );
}
