/** JSON text that takes about a millisecond to make. */
const CHARACTERS_PER_PART = 128 * 1024;
/** The server sends a column's name once, the text has it in every row. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** The rows of a query as JSON text. Each is converted when it arrives, so that it is not kept with all the others. */
export class RowsJson {
  readonly #parts: string[] = [];
  #rowsOfPart: string[] = [];
  #charactersOfPart = 0;
  #charactersLeft = MAX_CHARACTERS;

  /** Once the text is too long, rows are dropped. */
  add(row: Record<string, unknown>): void {
    if (this.isTooLong) return;
    const json = JSON.stringify(row);
    this.#charactersLeft -= json.length;
    if (this.isTooLong) return;
    this.#rowsOfPart.push(json);
    this.#charactersOfPart += json.length;
    if (this.#charactersOfPart >= CHARACTERS_PER_PART) this.#endPart();
  }

  get isTooLong(): boolean {
    return this.#charactersLeft < 0;
  }

  /** An array in parts, which are to be joined without anything between them. */
  parts(): string[] {
    if (this.#parts.length === 0 || this.#rowsOfPart.length > 0) this.#endPart();
    return [...this.#parts.slice(0, -1), `${this.#parts.at(-1)}]`];
  }

  #endPart(): void {
    this.#parts.push((this.#parts.length === 0 ? "[" : ",") + this.#rowsOfPart.join(","));
    this.#rowsOfPart = [];
    this.#charactersOfPart = 0;
  }
}

/** The JSON text of a query's result in parts. */
export function resultJson({ rows, ...rest }: { success: boolean; rows?: RowsJson }): string[] {
  if (rows === undefined) return [JSON.stringify(rest)];
  const parts = rows.parts();
  parts[0] = `{"rows":${parts[0]}`;
  return [...parts.slice(0, -1), `${parts.at(-1)},${JSON.stringify(rest).slice(1)}`];
}
