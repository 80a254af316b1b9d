/** Terminals limit the length of a pasted line. */
const MAX_PIECE_BYTES = 2_000;
const QUOTED_QUOTE_BYTES = 4;

/** No control or invisible characters, and no replacement character from invalid UTF-8. */
const PRINTABLE = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFFFD]*$/u;

interface CurlRequest {
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
  signedAt: Date;
  validUntil: Date;
}

/**
 * A command for any POSIX shell that sends exactly this request. The body is piped to curl because it can be too long
 * for an argument, and split into pieces because it can be too long for a line. Text is in single quotes, in which only
 * the quote is special; a body with unprintable characters is written in octal escapes.
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

/** Quotes a text for any POSIX shell. */
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

/** A byte in the notation of `printf '%b'`. */
function escapeByte(byte: number): string {
  const character = String.fromCharCode(byte);
  if (character === "\\") return "\\\\";
  return character >= " " && character <= "~" ? character : `\\0${byte.toString(8).padStart(3, "0")}`;
}

/** Joins characters or escapes to pieces of moderate length; at least one piece. */
function pieces(tokens: Iterable<string>): string[] {
  const full: string[] = [];
  let piece = "";
  let bytes = 0;
  for (const token of tokens) {
    piece += token;
    bytes += token === "'" ? QUOTED_QUOTE_BYTES : Buffer.byteLength(token);
    if (bytes < MAX_PIECE_BYTES) continue;
    full.push(piece);
    piece = "";
    bytes = 0;
  }
  return piece === "" && full.length > 0 ? full : [...full, piece];
}
