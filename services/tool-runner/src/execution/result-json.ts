/** JSON text that takes about a millisecond to make. */
const CHARACTERS_PER_PART = 128 * 1024;

/** The rows of a query as JSON text. Each is converted when it arrives, so that it is not kept with all the others. */
export class RowsJson {
  readonly #parts: string[] = [];
  #rowsOfPart: string[] = [];
  #characters = 0;

  add(row: Record<string, unknown>): void {
    const json = JSON.stringify(row);
    this.#rowsOfPart.push(json);
    this.#characters += json.length;
    if (this.#characters >= CHARACTERS_PER_PART) this.#endPart();
  }

  /** An array in parts, which are to be joined without anything between them. */
  parts(): string[] {
    if (this.#parts.length === 0 || this.#rowsOfPart.length > 0) this.#endPart();
    return [...this.#parts.slice(0, -1), `${this.#parts.at(-1)}]`];
  }

  #endPart(): void {
    this.#parts.push((this.#parts.length === 0 ? "[" : ",") + this.#rowsOfPart.join(","));
    this.#rowsOfPart = [];
    this.#characters = 0;
  }
}

/** The JSON text of a query's result in parts. */
export function resultJson({ rows, ...rest }: { success: boolean; rows?: RowsJson }): string[] {
  if (rows === undefined) return [JSON.stringify(rest)];
  const parts = rows.parts();
  parts[0] = `{"rows":${parts[0]}`;
  return [...parts.slice(0, -1), `${parts.at(-1)},${JSON.stringify(rest).slice(1)}`];
}
