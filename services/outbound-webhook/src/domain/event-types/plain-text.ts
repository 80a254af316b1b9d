import { Tokenizer } from "htmlparser2";

/** What is past this much HTML is not read. */
export const MAX_HTML_CHARS = 1_000_000;

const UNSEEN = new Set(["script", "style", "title", "template", "textarea", "select", "noembed", "noframes", "iframe"]);
const PARAGRAPHS = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "table", "blockquote", "pre"]);
const LINES = new Set([
  "div",
  "li",
  "tr",
  "dt",
  "dd",
  "hr",
  "section",
  "article",
  "header",
  "footer",
  "address",
  "form",
]);
const SPACE = /[\s\u00a0]+/g;
const MAX_NAME_CHARS = 12;

/**
 * The text of HTML from strangers: blocks begin new lines, list items a dash, tables rows; addresses of links and pictures
 * go. Reads tokens and builds no tree: the time does not depend on how deep elements are nested. Stops once `maxChars`
 * UTF-16 units are written.
 */
export function plainText(html: string, maxChars: number): string {
  const source = html.slice(0, MAX_HTML_CHARS);
  const lines = createLines();
  let unseen = "";
  const nameAt = (start: number, end: number) =>
    end - start > MAX_NAME_CHARS ? "" : source.slice(start, end).toLowerCase();
  const write = (text: string) => {
    if (unseen === "") lines.write(text);
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
        if (unseen === "") open(name, lines);
        if (unseen === "" && UNSEEN.has(name)) unseen = name;
      },
      onclosetag(start, end) {
        const name = nameAt(start, end);
        if (unseen === "") close(name, lines);
        else if (unseen === name) unseen = "";
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

type Lines = ReturnType<typeof createLines>;

function open(name: string, lines: Lines): void {
  if (name === "br") lines.newLine();
  else if (PARAGRAPHS.has(name)) lines.breakTo(2);
  else if (LINES.has(name)) lines.breakTo(1);
  else if (name === "td" || name === "th") lines.write(" ");
  if (name === "li") lines.write("- ");
}

function close(name: string, lines: Lines): void {
  if (PARAGRAPHS.has(name)) lines.breakTo(2);
  else if (LINES.has(name)) lines.breakTo(1);
}

/** Text in which white space is one space, and at most one line in a row is empty. */
function createLines() {
  const parts: string[] = [];
  let length = 0;
  let breaks = 0;
  let space = false;
  const push = (text: string) => {
    parts.push(text);
    length += text.length;
  };
  return {
    length: () => length,
    breakTo(count: number) {
      breaks = Math.max(breaks, count);
    },
    newLine() {
      breaks = Math.min(breaks + 1, 2);
    },
    write(raw: string) {
      const text = raw.replace(SPACE, " ");
      const words = text.trim();
      if (words === "") {
        space ||= text !== "";
        return;
      }
      if (length > 0 && breaks > 0) push("\n".repeat(breaks));
      else if (length > 0 && (space || text.startsWith(" "))) push(" ");
      push(words);
      breaks = 0;
      space = text.endsWith(" ");
    },
    text: () => parts.join(""),
  };
}
