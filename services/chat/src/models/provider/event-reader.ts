import { ModelError } from "../model.ts";

/** Reads the data of server-sent events from text that arrives in pieces. Their other fields say nothing here. */
export class EventReader {
  readonly #maxCharacters: number;
  /** The unfinished line, as it arrived: joined for each piece, a long line in small pieces would take very long. */
  #line: string[] = [];
  #lineCharacters = 0;
  /** The text so far ends with \r. The line has ended, and a \n that follows belongs to its end. */
  #afterReturn = false;
  /** The data of the unfinished event. */
  #data: string | undefined;

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  /** The data of the events that this piece of text ends. Throws a ModelError when an event is too long. */
  push(piece: string): string[] {
    if (piece === "") return [];
    let text = this.#afterReturn && piece.startsWith("\n") ? piece.slice(1) : piece;
    this.#afterReturn = piece.endsWith("\r");
    if (text.includes("\r")) text = text.replace(/\r\n?/g, "\n");
    const found: string[] = [];
    let end = text.indexOf("\n");
    if (end >= 0 && this.#lineCharacters > 0) {
      end += this.#lineCharacters;
      text = this.#takeLine() + text;
    }
    let start = 0;
    for (; end >= 0; end = text.indexOf("\n", start)) {
      if (end === start) {
        if (this.#data !== undefined) found.push(this.#data);
        this.#data = undefined;
      } else this.#readLine(text, start, end);
      start = end + 1;
    }
    if (start < text.length) this.#line.push(text.slice(start));
    this.#lineCharacters += text.length - start;
    if (this.#lineCharacters + (this.#data?.length ?? 0) > this.#maxCharacters)
      throw new ModelError("invalid", "an event of the model's server is too long", { beforeOutput: false });
    return found;
  }

  #takeLine(): string {
    const line = this.#line.join("");
    this.#line = [];
    this.#lineCharacters = 0;
    return line;
  }

  #readLine(text: string, start: number, end: number): void {
    if (!text.startsWith("data:", start)) return;
    const from = text.charCodeAt(start + 5) === 0x20 ? start + 6 : start + 5;
    const value = text.slice(from, end);
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }
}
