/** How a body may have changed between signing and verifying. */
export type BodyMistake =
  | "body-reserialised"
  | "trailing-newline"
  | "line-endings"
  | "encoding"
  | "surrounding-space"
  | "other-body";

/** A body that may be the signed one, and the mistake that would explain it. */
export type BodyVariant = { mistake: BodyMistake; body: Buffer };

/** Bodies over this, in bytes, are not tried as rewritten JSON. */
const MAX_JSON_BYTES = 256 * 1024;
const NEWLINE = Buffer.from("\n");
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * What a body may have been before it was changed in one of the usual ways, or what it is changed to: both directions,
 * as the body of either side may be pasted. None equals the body itself. Never throws.
 */
export function bodyVariants(body: Buffer): BodyVariant[] {
  const variants: BodyVariant[] = [];
  const seen = new Set([body.toString("latin1")]);
  const add = (mistake: BodyMistake, variant: Buffer) => {
    const key = variant.toString("latin1");
    if (!seen.has(key)) variants.push({ mistake, body: variant });
    seen.add(key);
  };
  const text = body.toString("utf8");
  add("trailing-newline", Buffer.concat([body, NEWLINE]));
  add("trailing-newline", Buffer.concat([body, Buffer.from("\r\n")]));
  if (body.at(-1) === 0x0a) add("trailing-newline", body.subarray(0, body.at(-2) === 0x0d ? -2 : -1));
  const latin = body.toString("latin1");
  add("line-endings", Buffer.from(latin.replaceAll("\r\n", "\n"), "latin1"));
  add("line-endings", Buffer.from(latin.replace(/(?<!\r)\n/g, "\r\n"), "latin1"));
  add("encoding", Buffer.from(latin, "utf8"));
  if (isLatin1(text)) add("encoding", Buffer.from(text, "latin1"));
  add("surrounding-space", Buffer.from(text.trim(), "utf8"));
  add("surrounding-space", Buffer.concat([BYTE_ORDER_MARK, body]));
  for (const rewritten of body.length <= MAX_JSON_BYTES ? rewrittenJson(text) : []) {
    add("body-reserialised", Buffer.from(rewritten, "utf8"));
  }
  return variants;
}

function isLatin1(text: string): boolean {
  return Buffer.from(text, "latin1").toString("latin1") === text;
}

/** As the usual libraries write it: JavaScript, with indents, Python, PHP. */
function rewrittenJson(text: string): string[] {
  try {
    return writtenAgain(text, JSON.parse(text));
  } catch {
    // No JSON, or nested too deeply to be written.
    return [];
  }
}

function writtenAgain(text: string, value: unknown): string[] {
  const compact = JSON.stringify(value);
  const squeezed = respace(text, "", "");
  const spaced = respace(compact, " ", " ");
  return [
    compact,
    squeezed,
    JSON.stringify(value, null, 2),
    JSON.stringify(value, null, 4),
    JSON.stringify(value, null, "\t"),
    spaced,
    asciiOnly(spaced),
    asciiOnly(compact),
    asciiOnly(compact).replaceAll("/", "\\/"),
  ];
}

/** The same tokens with other spaces; what stands in strings and numbers stays as it is. */
function respace(text: string, afterColon: string, afterComma: string): string {
  return text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|[ \t\r\n]+|:|,/gs, (token) => {
    if (token === ":") return `:${afterColon}`;
    if (token === ",") return `,${afterComma}`;
    return token.startsWith('"') ? token : "";
  });
}

function asciiOnly(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Whether two bodies are the same JSON value, whatever the order and spaces. */
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
