import { Tokenizer } from "htmlparser2";

/** HTML after this many characters is ignored. */
const MAX_HTML_CHARS = 1_000_000;
const MAX_TAG_NAME_CHARS = 12;

const HIDDEN = wordSet("script style title template textarea select noembed noframes iframe");
const PARAGRAPHS = wordSet("p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre");
const LINES = wordSet("div li tr dt dd hr section article header footer address form");

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

/**
 * The text of untrusted HTML. Blocks and table rows start new lines, list items start with a dash; link targets and
 * images are left out. Stops after about `maxChars` UTF-16 units of text.
 *
 * Uses only the tokenizer: html-to-text and htmlparser2's own parser take more than 10 s for deeply nested elements.
 */
export function plainText(html: string, maxChars: number): string {
  const source = html.slice(0, MAX_HTML_CHARS);
  const lines = createLines();
  let hidden = "";
  const nameAt = (start: number, end: number) =>
    end - start > MAX_TAG_NAME_CHARS ? "" : source.slice(start, end).toLowerCase();
  const write = (text: string) => {
    if (hidden === "") lines.write(text);
    if (lines.length() >= maxChars) tokenizer.pause();
  };
  const ignore = () => {};
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      ontext: (start, end) => write(source.slice(start, end)),
      ontextentity: (codePoint) => write(String.fromCodePoint(codePoint)),
      onopentagname(start, end) {
        const name = nameAt(start, end);
        if (hidden !== "") return;
        if (HIDDEN.has(name)) hidden = name;
        if (name === "br") lines.newLine();
        lines.startBlock(breaksAround(name));
        if (name === "li") lines.write("- ");
        if (name === "td" || name === "th") lines.write(" ");
      },
      onclosetag(start, end) {
        const name = nameAt(start, end);
        if (hidden === "") lines.startBlock(breaksAround(name));
        else if (hidden === name) hidden = "";
      },
      onselfclosingtag: ignore,
      onopentagend: ignore,
      onattribdata: ignore,
      onattribentity: ignore,
      onattribend: ignore,
      onattribname: ignore,
      oncdata: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
      onend: ignore,
    },
  );
  tokenizer.write(source);
  if (tokenizer.running) tokenizer.end();
  return lines.text();
}

function breaksAround(tag: string): number {
  if (PARAGRAPHS.has(tag)) return 2;
  return LINES.has(tag) ? 1 : 0;
}

/** Joins text so that white space is one space, and at most one empty line separates blocks. */
function createLines() {
  const parts: string[] = [];
  let length = 0;
  let breaks = 0;
  let space = false;
  return {
    length: () => length,
    text: () => parts.join(""),
    startBlock(count: number) {
      breaks = Math.max(breaks, count);
    },
    newLine() {
      breaks = Math.min(breaks + 1, 2);
    },
    write(raw: string) {
      const text = raw.replace(/[\s\u00a0]+/g, " ");
      const words = text.trim();
      if (words === "") {
        space ||= text !== "";
        return;
      }
      let separator = breaks > 0 ? "\n".repeat(breaks) : "";
      if (breaks === 0 && (space || text.startsWith(" "))) separator = " ";
      if (length === 0) separator = "";
      parts.push(separator, words);
      length += separator.length + words.length;
      breaks = 0;
      space = text.endsWith(" ");
    },
  };
}
