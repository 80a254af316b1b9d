import { ELEMENTS } from "./elements.ts";

/** The beginning of a tag, a whole end tag, or a whole entity. Names are in lower case: `List<S>` is text. */
const MARKUP =
  /<([a-z][a-z0-9]*)(?=[\s/>])|<\/([a-z][a-z0-9]*)\s{0,8}>|&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/iy;
/** The end of an input that may become one. */
const UNFINISHED = /^(?:<[a-z0-9]{0,10}|<\/[a-z0-9]{0,10}\s{0,8}|&#?[a-z\d]{0,32})$/;
const LONGEST_UNFINISHED = 34;
const ESCAPED: Readonly<Record<string, string>> = { "<": "&lt;", "&": "&amp;" };

/**
 * Escapes every `<` and `&` that begins neither an allowed tag nor an entity, so that it stays text. Returns what is certain,
 * and the rest of the input, which its next part decides.
 */
export function escapeText(input: string): [certain: string, rest: string] {
  let certain = "";
  let from = 0;
  for (let at = nextMarkup(input, 0); at < input.length; at = nextMarkup(input, at + 1)) {
    MARKUP.lastIndex = at;
    const match = MARKUP.exec(input);
    const name = match?.[1] ?? match?.[2];
    if (match && (name === undefined || ELEMENTS.has(name))) continue;
    if (input.length - at <= LONGEST_UNFINISHED && UNFINISHED.test(input.slice(at))) {
      return [certain + input.slice(from, at), input.slice(at)];
    }
    certain += input.slice(from, at) + ESCAPED[input[at] ?? ""];
    from = at + 1;
  }
  return [certain + input.slice(from), ""];
}

/** The text of which `escapeText` made this. */
export function unescapeText(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&amp;", "&");
}

/** Where the next tag or entity may begin. */
export function nextMarkup(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x3c || char === 0x26) return at;
  }
  return text.length;
}
