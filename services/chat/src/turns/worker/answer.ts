import { messageEvent } from "../../domain/chat-event.ts";
import { HtmlSanitizer } from "../../html/sanitizer.ts";
import type { TurnLog } from "./turn-log.ts";

interface AnswerOptions {
  log: TurnLog;
  now: () => Date;
  /** What an earlier worker has streamed of this step. */
  streamed: string;
  /** Put before the first text, to separate it from the step before. */
  separator: string;
  /** Most characters, apart from those of the last piece of text and those that close what is open. */
  maxCharacters: number;
  onFirst: () => void;
}

/** The first text is sent immediately; later text is collected for this long. */
const COLLECT_MS = 70;
const MAX_UNSTORED_CHARACTERS = 64 * 1024;
/** At most about 32 kB. */
const MAX_EVENT_CHARACTERS = 11_000;
/** Sanitized text is rarely more than this many times as long as the text. */
const GROWTH = 8;
/** Least text that is sanitized together, also when less fits: what adds nothing would cost a step for each character. */
const MIN_PIECE_CHARACTERS = 16;

export type Answer = ReturnType<typeof createAnswer>;

/** The HTML of one step of the model, as it streams. */
export function createAnswer({ log, now, streamed, separator, maxCharacters, onFirst }: AnswerOptions) {
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

  /** Sanitizes the text piece by piece, so that hardly more than what fits is added. */
  function addUntilFull(text: string): void {
    for (let start = 0; start < text.length && html.length < maxCharacters; ) {
      const fitting = Math.ceil((maxCharacters - html.length) / GROWTH);
      const end = wholeEnd(text, start + Math.max(fitting, MIN_PIECE_CHARACTERS));
      add(sanitizer.push(text.slice(start, end)));
      start = end;
    }
  }

  function store(): void {
    timer = undefined;
    if (writing || collected === "") return;
    const content = collected;
    collected = "";
    const at = now();
    const stored = log.append({ events: eventTexts(content).map((part) => messageEvent("assistant", part, at)) });
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
    /** What was streamed so far. */
    get html(): string {
      return html;
    },
    /** It has reached its maximum length; further text is dropped. */
    get full(): boolean {
      return html.length >= maxCharacters;
    },
    /** Takes the model's next text. Waits while too much of it is not stored yet. */
    async push(text: string): Promise<void> {
      if (failure) throw failure;
      const isFirst = html === "";
      addUntilFull(text);
      if (collected.length > MAX_UNSTORED_CHARACTERS) return storeAll();
      if (isFirst && html !== "") store();
      else if (collected !== "" && !writing) timer ??= setTimeout(store, COLLECT_MS);
    },
    /** Closes what is open, and resolves once everything is stored. */
    async end(): Promise<void> {
      add(sanitizer.end());
      await storeAll();
    },
    /** As `end`, but leaves open what is open: another worker continues. */
    leave: storeAll,
  };
}

function eventTexts(content: string): string[] {
  const parts: string[] = [];
  for (let start = 0; start < content.length; ) {
    const end = wholeEnd(content, start + MAX_EVENT_CHARACTERS);
    parts.push(content.slice(start, end));
    start = end;
  }
  return parts;
}

/** Where to cut a text so that no character of two UTF-16 units is split. */
function wholeEnd(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return end < text.length && unit >= 0xd800 && unit < 0xdc00 ? end + 1 : end;
}
