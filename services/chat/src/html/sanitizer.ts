import { QuoteType, Tokenizer } from "htmlparser2";
import { escapeHtml } from "./escape.ts";
import { escapeText, nextMarkup, unescapeText } from "./markup.ts";
import { HtmlWriter } from "./writer.ts";

/** Longest tag, in characters; what is longer is text. A link's largest tag fits, escaped as we write it. */
const MAX_TAG_CHARS = 16_384;
const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);
const MAX_HREF_CHARS = 2_048;
const LINK_ATTRIBUTES = ' rel="noopener nofollow"';
const HIGH_SURROGATE_AT_END = /[\ud800-\udbff]$/;

/**
 * Turns a model's text into safe HTML while it streams: the tags of simple formatting, lists, tables and links stay, all
 * else is text, so that nothing that a reader should see is lost. The output does not depend on where the input was cut, is
 * never more than one tag behind it, and is its own sanitized form: a sanitizer that was given some output continues after
 * it.
 */
export class HtmlSanitizer {
  readonly #writer = new HtmlWriter();
  #tokenizer = this.#newTokenizer();
  /** The input of which something is unfinished, and where it begins. Places are the tokenizer's. */
  #window = "";
  #windowAt = 0;
  /** Where the current tag or entity begins. */
  #unfinishedAt = 0;
  /** What the next part of the input decides. */
  #half = "";
  #rest = "";
  #tag = "";
  #attribute = "";
  #href: string | undefined;
  #isHref = false;
  /** The tag has an attribute without a value, as in `a <b and c> d`: it is text. */
  #isText = false;

  /** Takes the next part of the model's text, and returns HTML to append. */
  push(text: string): string {
    const input = this.#half + text;
    this.#half = HIGH_SURROGATE_AT_END.exec(input)?.[0] ?? "";
    const whole = input.slice(0, input.length - this.#half.length).toWellFormed();
    const [certain, rest] = escapeText(this.#rest + whole);
    this.#rest = rest;
    this.#feedAll(certain);
    return this.#writer.take();
  }

  /** Ends the input: returns HTML that closes everything. An unfinished tag is text. */
  end(): string {
    this.#feedAll(escapeHtml(this.#rest) + (this.#half && "\ufffd"));
    this.#tokenizer.end();
    this.#writeText(this.#input(this.#unfinishedAt));
    this.#writer.closeAll();
    return this.#writer.take();
  }

  #feedAll(text: string): void {
    for (let at = 0; at < text.length; ) {
      const room = MAX_TAG_CHARS - this.#window.length;
      const piece = text.slice(at, Math.min(at + room, nextMarkup(text, at + 1)));
      at += piece.length;
      this.#feed(piece);
    }
  }

  #feed(piece: string): void {
    this.#window += piece;
    this.#tokenizer.write(piece);
    this.#window = this.#input(this.#unfinishedAt);
    this.#windowAt = this.#unfinishedAt;
    if (this.#window.length < MAX_TAG_CHARS) return;
    this.#writeText(this.#window);
    this.#tokenizer = this.#newTokenizer();
    this.#window = "";
    this.#windowAt = 0;
    this.#unfinishedAt = 0;
    this.#isHref = false;
  }

  /** The input between two places in the window. For a tag cut off at its slash, the tokenizer says that it began at -1. */
  #input(start: number, end = Number.POSITIVE_INFINITY): string {
    return this.#window.slice(Math.max(0, start - this.#windowAt), end - this.#windowAt);
  }

  #newTokenizer(): Tokenizer {
    return new Tokenizer(
      {},
      {
        ontext: (start, end) => {
          this.#writer.text(this.#input(start, end));
          this.#unfinishedAt = end;
        },
        ontextentity: (codepoint, end) => {
          this.#writer.text(String.fromCodePoint(codepoint));
          this.#unfinishedAt = end;
        },
        onopentagname: (start, end) => {
          this.#tag = this.#input(start, end);
          this.#href = undefined;
          this.#isText = false;
        },
        onattribname: (start, end) => {
          this.#isHref = this.#tag === "a" && this.#href === undefined && /^href$/i.test(this.#input(start, end));
          this.#attribute = "";
        },
        onattribdata: (start, end) => {
          if (this.#isHref) this.#attribute += this.#input(start, end);
        },
        onattribentity: (codepoint) => {
          if (this.#isHref) this.#attribute += String.fromCodePoint(codepoint);
        },
        onattribend: (quote) => {
          if (quote === QuoteType.NoValue) this.#isText = true;
          if (this.#isHref) this.#href = this.#attribute;
          this.#isHref = false;
        },
        onopentagend: (end) => this.#openTag(end),
        onselfclosingtag: (end) => this.#openTag(end),
        onclosetag: (start, end) => {
          this.#writer.closeTag(this.#input(start, end));
          this.#skip(this.#input(end).indexOf(">") + end);
        },
        // The input has none of these: they do not begin as an allowed tag does.
        oncomment: () => undefined,
        oncdata: () => undefined,
        ondeclaration: () => undefined,
        onprocessinginstruction: () => undefined,
        onend: () => undefined,
      },
    );
  }

  #openTag(end: number): void {
    if (this.#isText) this.#writeText(this.#input(this.#unfinishedAt, end + 1));
    else if (this.#tag !== "a") this.#writer.openTag(this.#tag);
    else {
      const href = safeHref(this.#href ?? "");
      if (href !== undefined) this.#writer.openTag("a", ` href="${escapeHtml(href)}"${LINK_ATTRIBUTES}`);
    }
    this.#skip(end);
  }

  /** Writes a piece of the input that turned out not to be a tag. */
  #writeText(text: string): void {
    this.#writer.text(unescapeText(text));
  }

  #skip(end: number): void {
    this.#unfinishedAt = end + 1;
  }
}

/** The absolute form of a link that may be shown; undefined for other schemes, relative links, and links with a password. */
function safeHref(href: string): string | undefined {
  if (href.length > MAX_HREF_CHARS) return undefined;
  const url = URL.parse(href);
  if (url === null || !SCHEMES.has(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  return url.href.length > MAX_HREF_CHARS ? undefined : url.href;
}
