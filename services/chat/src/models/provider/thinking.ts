const BEGIN = /^\s*<think(?:ing)?>/;
const END = /<\/think(?:ing)?>/;
const LONGEST_TAG = "</thinking>".length;
/** Longer white space before an answer is a part of it. */
const MAX_BLANKS = 1_000;
/** The beginning of an answer that may become one of the tags. */
const MAY_BEGIN = /^\s*(?:<(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?)?$/;

/**
 * Takes what a model has thought out of its answer: what is between <think> or <thinking> at the beginning and the end tag.
 * `first`: the model's server has left out the tag at the beginning, so everything up to the end tag is thought.
 */
export class ThinkingFilter {
  #state: "beginning" | "thinking" | "ended" | "answering";
  /** What may be a part of a tag. */
  #held = "";
  /** What is the answer, should no end tag come. */
  readonly #thought: string[] = [];
  readonly #first: boolean;

  constructor(first: boolean) {
    this.#first = first;
    this.#state = first ? "thinking" : "beginning";
  }

  /** The part of the answer that is certain now. */
  push(text: string): string {
    if (this.#state === "answering") return text;
    if (this.#state === "ended") return this.#answer(text.trimStart());
    this.#held += text;
    if (this.#state === "beginning") {
      if (this.#held.length < MAX_BLANKS && MAY_BEGIN.test(this.#held)) return "";
      if (!BEGIN.test(this.#held)) return this.#answer(this.#held);
      this.#state = "thinking";
    }
    const end = END.exec(this.#held);
    if (end) return this.#answer(this.#held.slice(end.index + end[0].length).trimStart());
    if (this.#first) this.#thought.push(text);
    this.#held = this.#held.slice(-LONGEST_TAG);
    return "";
  }

  /** What is left when the answer has ended. */
  end(): string {
    return this.#state === "beginning" ? this.#held : this.#state === "thinking" ? this.#thought.join("") : "";
  }

  #answer(text: string): string {
    this.#state = text === "" ? "ended" : "answering";
    return text;
  }
}
