import { ModelError } from "../model.ts";

/** Reads the data of server-sent events from text that arrives in pieces. Their other fields say nothing here. */
export class EventReader {
  readonly #maxCharacters: number;
  /** The unfinished line. */
  #line = "";
  /** The data of the unfinished event. */
  #data: string | undefined;

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  /** The data of the events that this piece of text ends. Throws a ModelError when an event is too long. */
  push(piece: string): string[] {
    let text = this.#line + piece;
    // Half of a line end may follow.
    const held = text.endsWith("\r") ? "\r" : "";
    if (held !== "") text = text.slice(0, -1);
    if (text.includes("\r")) text = text.replace(/\r\n?/g, "\n");
    const found: string[] = [];
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      if (end === start) {
        if (this.#data !== undefined) found.push(this.#data);
        this.#data = undefined;
      } else this.#readLine(text, start, end);
      start = end + 1;
    }
    this.#line = text.slice(start) + held;
    if (this.#line.length + (this.#data?.length ?? 0) > this.#maxCharacters)
      throw new ModelError("invalid", "an event of the model's server is too long", { beforeOutput: false });
    return found;
  }

  #readLine(text: string, start: number, end: number): void {
    if (!text.startsWith("data:", start)) return;
    const from = text.charCodeAt(start + 5) === 0x20 ? start + 6 : start + 5;
    const value = text.slice(from, end);
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }
}
