/** One block of a stream of server-sent events, with the fields that it has. */
export interface Block {
  id?: string;
  event?: string;
  data?: string;
}

const LINE_END = /\r\n|\r|\n/;
/** Far more than any event has. */
const MAX_BLOCK_CHARS = 4_000_000;

/** Splits text that arrives in any pieces into blocks. Comments are left out, and so is a block without an end. */
export class SseParser {
  #text = "";
  #size = 0;
  #block: Block = {};

  /** Returns the blocks that end in this piece. Throws when one is too large. */
  push(piece: string): Block[] {
    const blocks: Block[] = [];
    const text = this.#text + piece;
    const lines = text.split(LINE_END);
    this.#text = lines.pop() ?? "";
    // A line feed may follow in the next piece.
    if (text.endsWith("\r")) this.#text = `${lines.pop()}\r`;
    for (const line of lines) {
      this.#size += line.length;
      if (line !== "") this.#take(line);
      else if (this.#size > 0) {
        blocks.push(this.#block);
        this.#block = {};
        this.#size = 0;
      }
    }
    if (this.#size + this.#text.length > MAX_BLOCK_CHARS) throw new TypeError("an event is too large");
    return blocks;
  }

  #take(line: string): void {
    const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    const block = this.#block;
    if (name === "data") block.data = block.data === undefined ? value : `${block.data}\n${value}`;
    else if (name === "id" || name === "event") block[name] = value;
  }
}

/**
 * The blocks of a response's body. Calls `onSilence` when nothing arrives for `silenceMs`, comments included; the time in
 * which the reader of the blocks is busy does not count.
 */
export async function* readBlocks(
  body: ReadableStream<Uint8Array>,
  silenceMs: number,
  onSilence: () => void,
): AsyncGenerator<Block> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new SseParser();
  for (;;) {
    const timer = setTimeout(onSilence, silenceMs);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    yield* parser.push(decoder.decode(value, { stream: true }));
  }
}
