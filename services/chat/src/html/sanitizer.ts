import { type QuoteType, Tokenizer } from "htmlparser2";
import { ELEMENTS, HIDDEN } from "./elements.ts";
import { escapeHtml } from "./escape.ts";
import { safeHref } from "./link.ts";
import { TextWindow } from "./text-window.ts";
import { HtmlWriter } from "./writer.ts";

/** Longest tag or comment, in characters; what is longer is text. A link's largest tag fits, escaped as we write it. */
const MAX_TAG_CHARS = 16_384;
const LINK_ATTRIBUTES = ' rel="noopener nofollow"';
const HIGH_SURROGATE_AT_END = /[\ud800-\udbff]$/;

/**
 * Turns a model's text into safe HTML while it streams: simple formatting, lists, tables and links stay, all else is
 * dropped or becomes text. The output does not depend on where the input was cut, is never more than one tag behind it,
 * and is its own sanitized form: a sanitizer that was given some output continues after it.
 */
export class HtmlSanitizer {
  readonly #writer = new HtmlWriter();
  #tokenizer = this.#newTokenizer();
  /** The input since the current tag, comment or entity began, and where that is. Places are the tokenizer's. */
  #window = new TextWindow();
  #unfinishedAt = 0;
  #half = "";
  #tag = "";
  #attribute = "";
  #href: string | undefined;
  #isHref = false;
  #hidden = "";

  /** Takes the next part of the model's text, and returns HTML to append. */
  push(text: string): string {
    let rest = this.#half + text;
    this.#half = HIGH_SURROGATE_AT_END.exec(rest)?.[0] ?? "";
    rest = rest.slice(0, rest.length - this.#half.length).toWellFormed();
    for (let at = 0; at < rest.length; ) {
      const room = MAX_TAG_CHARS - this.#window.length;
      const piece = rest.slice(at, Math.min(at + room, nextMarkup(rest, at + 1)));
      at += piece.length;
      this.#feed(piece);
    }
    return this.#writer.take();
  }

  /** Ends the input: returns HTML that closes everything. An unfinished tag is dropped. */
  end(): string {
    if (this.#half !== "") this.#feed("\ufffd");
    this.#half = "";
    this.#tokenizer.end();
    this.#writer.closeAll();
    return this.#writer.take();
  }

  #feed(piece: string): void {
    this.#window.add(piece);
    this.#tokenizer.write(piece);
    this.#window.startAt(this.#unfinishedAt);
    if (this.#window.length < MAX_TAG_CHARS) return;
    this.#writeText(this.#window.slice(this.#unfinishedAt));
    this.#tokenizer = this.#newTokenizer();
    this.#window = new TextWindow();
    this.#unfinishedAt = 0;
    this.#isHref = false;
  }

  #newTokenizer(): Tokenizer {
    return new Tokenizer(
      {},
      {
        ontext: (start, end) => {
          this.#writeText(this.#window.slice(start, end));
          this.#unfinishedAt = end;
        },
        ontextentity: (codepoint, end) => {
          this.#writeText(String.fromCodePoint(codepoint));
          this.#unfinishedAt = end;
        },
        onopentagname: (start, end) => {
          this.#tag = this.#window.slice(start, end).toLowerCase();
          this.#href = undefined;
        },
        onattribname: (start, end) => {
          this.#isHref =
            this.#tag === "a" && this.#href === undefined && /^href$/i.test(this.#window.slice(start, end));
          this.#attribute = "";
        },
        onattribdata: (start, end) => {
          if (this.#isHref) this.#attribute += this.#window.slice(start, end);
        },
        onattribentity: (codepoint) => {
          if (this.#isHref) this.#attribute += String.fromCodePoint(codepoint);
        },
        onattribend: (_quote: QuoteType, _end) => {
          if (this.#isHref) this.#href = this.#attribute;
          this.#isHref = false;
        },
        onopentagend: (end) => this.#openTag(end),
        onselfclosingtag: (end) => this.#openTag(end),
        onclosetag: (start, end) => {
          this.#closeTag(this.#window.slice(start, end).toLowerCase());
          this.#unfinishedAt = end;
        },
        oncomment: (_start, end) => this.#skip(end),
        oncdata: (_start, end) => this.#skip(end),
        ondeclaration: (_start, end) => this.#skip(end),
        onprocessinginstruction: (_start, end) => this.#skip(end),
        onend: () => undefined,
      },
    );
  }

  #openTag(end: number): void {
    this.#skip(end);
    if (HIDDEN.has(this.#tag)) this.#hidden = this.#tag;
    else if (this.#tag !== "a") this.#writer.openTag(this.#tag);
    else {
      const href = safeHref(this.#href ?? "");
      if (href !== undefined) this.#writer.openTag("a", ` href="${escapeHtml(href)}"${LINK_ATTRIBUTES}`);
    }
  }

  #closeTag(name: string): void {
    if (name === this.#hidden) this.#hidden = "";
    else if (ELEMENTS.has(name)) this.#writer.closeTag(name);
  }

  #writeText(text: string): void {
    if (this.#hidden === "") this.#writer.text(text);
  }

  #skip(end: number): void {
    this.#unfinishedAt = end + 1;
  }
}

/** Where the next tag or entity may begin. Text before it is written first, so that its length counts from there. */
function nextMarkup(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x3c || char === 0x26) return at;
  }
  return text.length;
}
