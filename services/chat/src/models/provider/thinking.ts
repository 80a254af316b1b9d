const BEGIN = /^\s*<think(?:ing)?>/;
const END = /<\/think(?:ing)?>/;
const LONGEST_TAG = "</thinking>".length;
/** The beginning of an answer that may become one of the tags. */
const MAY_BEGIN = /^\s*(?:<(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?)?$/;

/**
 * Takes what a model has thought out of its answer: what is between <think> or <thinking> at the beginning and the end tag.
 * `first`: the model's server has left out the tag at the beginning, so everything up to the end tag is thought.
 */
export class ThinkingFilter {
  #state: "beginning" | "thinking" | "ended" | "answering";
  /** What may be a part of a tag; or the whole text, if it is the answer should no end tag come. */
  #held = "";
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
      if (MAY_BEGIN.test(this.#held)) return "";
      if (!BEGIN.test(this.#held)) return this.#answer(this.#held);
      this.#state = "thinking";
    }
    const end = END.exec(this.#held);
    if (end) return this.#answer(this.#held.slice(end.index + end[0].length).trimStart());
    if (!this.#first) this.#held = this.#held.slice(-LONGEST_TAG);
    return "";
  }

  /** What is left when the answer has ended. */
  end(): string {
    return this.#state === "beginning" || (this.#state === "thinking" && this.#first) ? this.#held : "";
  }

  #answer(text: string): string {
    this.#state = text === "" ? "ended" : "answering";
    this.#held = "";
    return text;
  }
}
