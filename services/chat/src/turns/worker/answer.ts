import { messageEvent } from "../../domain/chat-event.ts";
import { HtmlSanitizer } from "../../html/sanitizer.ts";
import type { TurnLog } from "./turn-log.ts";

/** The HTML of one step of the model, as it streams. */
export interface Answer {
  /** What was streamed so far. */
  readonly html: string;
  /** Takes the model's next text. Waits while too much of it is not stored yet. */
  push(text: string): Promise<void>;
  /** Closes what is open, and resolves once everything is stored. */
  end(): Promise<void>;
  /** As `end`, but leaves open what is open: another worker goes on. */
  leave(): Promise<void>;
}

interface AnswerOptions {
  log: TurnLog;
  now: () => Date;
  /** What an earlier worker has streamed of this step. */
  streamed: string;
  /** Put before the first text, to separate it from the step before. */
  separator: string;
  onFirst: () => void;
}

/** The first text is sent at once; then texts are collected for this long. */
const COLLECT_MS = 70;
const MAX_UNSTORED_CHARACTERS = 64 * 1024;

export function createAnswer({ log, now, streamed, separator, onFirst }: AnswerOptions): Answer {
  const sanitizer = new HtmlSanitizer();
  let html = streamed;
  sanitizer.push(streamed);
  let collected = "";
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let failure: unknown;

  function add(part: string): void {
    if (part === "") return;
    const text = html === "" ? separator + part : part;
    html += text;
    collected += text;
  }

  function store(): void {
    timer = undefined;
    if (writing || collected === "") return;
    const content = collected;
    collected = "";
    const stored = log.append({ events: [messageEvent("assistant", content, now())] });
    if (html.length === content.length) stored.then(onFirst, () => {});
    writing = stored
      .catch((error: unknown) => {
        failure ??= error;
      })
      .then(() => {
        writing = undefined;
        if (collected !== "") timer ??= setTimeout(store, COLLECT_MS);
      });
  }

  async function storeAll(): Promise<void> {
    clearTimeout(timer);
    while (writing || collected !== "") {
      clearTimeout(timer);
      store();
      await writing;
      if (failure) break;
    }
    clearTimeout(timer);
    if (failure) throw failure;
  }

  return {
    get html() {
      return html;
    },
    async push(text) {
      if (failure) throw failure;
      const isFirst = html === "";
      add(sanitizer.push(text));
      if (collected.length > MAX_UNSTORED_CHARACTERS) return storeAll();
      if (isFirst && html !== "") store();
      else if (collected !== "" && !writing) timer ??= setTimeout(store, COLLECT_MS);
    },
    async end() {
      add(sanitizer.end());
      await storeAll();
    },
    leave: storeAll,
  };
}
