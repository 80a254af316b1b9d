import { ELEMENTS, type ElementKind, TABLE_FRAME, TABLE_PARTS } from "./elements.ts";
import { escapeHtml } from "./escape.ts";

/** Elements that may be open; deeper ones are shown without their tags. */
const MAX_DEPTH = 32;
const LEADING_SPACE = /^[\t\n ]+/;

/**
 * Writes allowed elements so that every HTML parser reads the same tree from them: each is closed, and is only
 * where it is allowed. A tag in any other place is dropped; its content stays.
 */
export class HtmlWriter {
  readonly #open: string[] = [];
  #html = "";

  /** What was written since the last call. */
  take(): string {
    const html = this.#html;
    this.#html = "";
    return html;
  }

  text(text: string): void {
    let rest = text;
    if (this.#inTableFrame()) {
      rest = text.replace(LEADING_SPACE, "");
      if (rest !== "") this.#endTable();
    }
    this.#html += escapeHtml(rest);
  }

  /** `attributes` is written as it is. */
  openTag(name: string, attributes = ""): void {
    const kind = ELEMENTS.get(name);
    if (kind === undefined || this.#open.length >= MAX_DEPTH || !this.#makePlace(name, kind)) return;
    this.#html += `<${name}${attributes}>`;
    if (kind !== "void") this.#open.push(name);
  }

  /** Closes the innermost element of this name and what is open in it. Text of a cell cannot close what is around it. */
  closeTag(name: string): void {
    const at = this.#open.lastIndexOf(name);
    if (at >= (TABLE_PARTS.has(name) ? 0 : this.#cellBorder()) && at >= 0) this.#closeFrom(at);
  }

  closeAll(): void {
    this.#closeFrom(0);
  }

  #makePlace(name: string, kind: ElementKind): boolean {
    if (kind === "section" || kind === "row" || kind === "cell") return this.#makePlaceInTable(kind);
    if (this.#inTableFrame()) this.#endTable();
    if (kind === "item") return this.#makePlaceInList();
    if (kind === "block" || kind === "paragraph" || name === "hr") this.#endParagraph();
    if (name === "a") return this.#endLink();
    return true;
  }

  #endParagraph(): void {
    for (let at = this.#cellBorder(); at < this.#open.length; at++) {
      if (ELEMENTS.get(this.#open[at] ?? "") === "paragraph") this.#closeFrom(at);
    }
  }

  #endLink(): boolean {
    const at = this.#open.lastIndexOf("a");
    if (at >= 0 && at < this.#cellBorder()) return false;
    if (at >= 0) this.#closeFrom(at);
    return true;
  }

  #makePlaceInList(): boolean {
    const list = Math.max(this.#open.lastIndexOf("ul"), this.#open.lastIndexOf("ol"));
    if (list < this.#cellBorder() || list < this.#open.lastIndexOf("blockquote")) return false;
    this.#closeFrom(list + 1);
    return true;
  }

  #makePlaceInTable(kind: ElementKind): boolean {
    const table = this.#open.lastIndexOf("table");
    // What is missing between the table and the element is added, so there has to be room for it.
    if (table < 0 || table + 3 >= MAX_DEPTH) return false;
    const section = this.#open[table + 1];
    if (kind === "section") this.#closeFrom(table + 1);
    else if (section === undefined) this.#push("tbody");
    if (kind === "row") this.#closeFrom(table + 2);
    if (kind !== "cell") return true;
    if (this.#open[table + 2] === undefined) this.#push("tr");
    this.#closeFrom(table + 3);
    return true;
  }

  #push(name: string): void {
    this.#html += `<${name}>`;
    this.#open.push(name);
  }

  #inTableFrame(): boolean {
    return TABLE_FRAME.has(this.#open.at(-1) ?? "");
  }

  #endTable(): void {
    while (this.#inTableFrame()) this.#closeFrom(this.#open.lastIndexOf("table"));
  }

  /** Where the content of the innermost cell begins. */
  #cellBorder(): number {
    return Math.max(this.#open.lastIndexOf("td"), this.#open.lastIndexOf("th")) + 1;
  }

  #closeFrom(index: number): void {
    while (this.#open.length > index) this.#html += `</${this.#open.pop()}>`;
  }
}
