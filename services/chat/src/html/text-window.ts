/**
 * The end of a text that arrives in pieces; places count from the beginning of the whole text. Reading what arrived last
 * takes no longer when the window is long, which joining the pieces for it would.
 */
export class TextWindow {
  #pieces: string[] = [];
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  add(piece: string): void {
    this.#pieces.push(piece);
    this.#end += piece.length;
  }

  /** The text between two places in the window. */
  slice(start: number, end = this.#end): string {
    let text = "";
    let pieceStart = this.#end;
    for (let index = this.#pieces.length - 1; index >= 0 && pieceStart > start; index--) {
      const piece = this.#pieces[index] ?? "";
      pieceStart -= piece.length;
      text = piece.slice(Math.max(0, start - pieceStart), Math.max(0, end - pieceStart)) + text;
    }
    return text;
  }

  /** Forgets what is before this place. */
  startAt(start: number): void {
    if (start === this.#start) return;
    this.#pieces = start < this.#end ? [this.slice(start)] : [];
    this.#start = start;
  }
}
