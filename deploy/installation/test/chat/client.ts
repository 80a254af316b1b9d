import { type Block, readBlocks } from "@toolgate/chat-client/sse";

/** One event of a stream, as a browser's EventSource would dispatch it. */
export interface SentEvent {
  id: string;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: each kind has its own data.
  data: any;
}

/** What a stream has sent so far. */
export interface EventStream {
  status: number;
  headers: Headers;
  events: SentEvent[];
  /** Every id that was sent, also without an event. */
  ids: string[];
  /** Resolves with the events once the server has ended the stream, or `cut` was called. */
  ended: Promise<SentEvent[]>;
  /** The first event that passes; rejects when the stream ends without one. */
  until(passes: (event: SentEvent) => boolean): Promise<SentEvent>;
  /** Closes the connection. */
  cut(): void;
}

const DEADLINE_MS = 60_000;

/** Opens a stream and reads it in the background. */
export async function openStream(url: string, headers: Record<string, string>): Promise<EventStream> {
  const connection = new AbortController();
  const signal = AbortSignal.any([connection.signal, AbortSignal.timeout(DEADLINE_MS)]);
  const response = await fetch(url, { headers, signal });
  const events: SentEvent[] = [];
  const ids: string[] = [];
  let wake = () => {};
  let isOver = false;
  async function read(): Promise<SentEvent[]> {
    try {
      if (!response.body) throw new Error("the response has no body");
      for await (const block of readBlocks(response.body, DEADLINE_MS, () => connection.abort())) {
        take(block);
        wake();
      }
    } catch (error) {
      if (!connection.signal.aborted) throw error;
    } finally {
      isOver = true;
      wake();
    }
    return events;
  }
  function take({ id, event = "", data }: Block): void {
    if (id !== undefined) ids.push(id);
    if (data !== undefined) events.push({ id: id ?? "", event, data: JSON.parse(data) });
  }
  const ended = read();
  ended.catch(() => {});
  return {
    status: response.status,
    headers: response.headers,
    events,
    ids,
    ended,
    async until(passes) {
      for (;;) {
        const found = events.find(passes);
        if (found) return found;
        if (isOver) throw new Error(`the stream ended before it: ${JSON.stringify(events)}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    cut: () => connection.abort(),
  };
}

/** The text of the assistant's messages. */
export function textOf(events: readonly Pick<SentEvent, "event" | "data">[]): string {
  return events
    .filter(({ event, data }) => event === "message" && data.role === "assistant")
    .map(({ data }) => data.content)
    .join("");
}

export function kindsOf(events: readonly Pick<SentEvent, "event">[]): string[] {
  return events.map(({ event }) => event);
}

/** Fails unless each id is one more than the one before. */
export function expectDense(ids: readonly string[]): void {
  const numbers = ids.map(Number);
  const first = numbers[0] ?? 0;
  const wanted = numbers.map((_, index) => first + index);
  if (numbers.join() !== wanted.join()) throw new Error(`event ids have gaps or repeats: ${numbers.join()}`);
}
