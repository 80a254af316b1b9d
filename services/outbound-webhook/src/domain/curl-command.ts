/** Below what a terminal takes as one line. */
const MAX_PIECE_BYTES = 2_000;

const BACKSLASH = 0x5c;
const SPACE = 0x20;
const TILDE = 0x7e;
const OCTAL_DIGITS = 3;
const QUOTED_QUOTE_BYTES = 4;

/** No control or invisible characters, and nothing that was not UTF-8. */
const PRINTABLE = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFFFD]*$/u;

/** What is sent, and when that was signed. */
export interface CurlRequest {
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
  signedAt: Date;
  validUntil: Date;
}

/**
 * A command for any POSIX shell that sends exactly this. The body goes through a pipe, because an argument of a program
 * may not be as long, and in pieces, because a line that is pasted may not either. Text stands as it is in single quotes,
 * where no character but the quote means anything; what is not printable is written as octal escapes.
 */
export function curlCommand({ url, headers, body, signedAt, validUntil }: CurlRequest): string {
  const note = `signed for this command at ${signedAt.toISOString()}, accepted until ${validUntil.toISOString()}`;
  const curl = [
    `curl -g -i -sS ${quote(url)} -H 'Accept:' -H 'Expect:'`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    "--data-binary @-",
  ];
  return `: ${quote(note)}\n${onLines(printf(body))} | ${onLines(curl)}\n`;
}

/** A word that every POSIX shell reads back as the same text. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function onLines(words: readonly string[]): string {
  return words.join(" \\\n  ");
}

function printf(body: Uint8Array): string[] {
  const text = Buffer.from(body).toString("utf8");
  const plain = PRINTABLE.test(text);
  const tokens = plain ? text : Array.from(body, escapeByte);
  return [`printf ${plain ? "'%s'" : "'%b'"}`, ...pieces(tokens).map(quote)];
}

/** As `printf '%b'` reads it. */
function escapeByte(byte: number): string {
  if (byte === BACKSLASH) return "\\\\";
  if (byte >= SPACE && byte <= TILDE) return String.fromCharCode(byte);
  return `\\0${byte.toString(8).padStart(OCTAL_DIGITS, "0")}`;
}

/** Joins tokens to pieces of moderate length; characters and escapes stay whole. */
function pieces(tokens: Iterable<string>): string[] {
  const made: string[] = [];
  let piece = "";
  let bytes = 0;
  for (const token of tokens) {
    piece += token;
    bytes += token === "'" ? QUOTED_QUOTE_BYTES : Buffer.byteLength(token);
    if (bytes < MAX_PIECE_BYTES) continue;
    made.push(piece);
    piece = "";
    bytes = 0;
  }
  return piece === "" && made.length > 0 ? made : [...made, piece];
}
