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
  comments: string[];
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
  const comments: string[] = [];
  let wake = () => {};
  let isOver = false;
  async function read(): Promise<SentEvent[]> {
    let text = "";
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk, { stream: true });
        for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
          take(text.slice(0, end));
          text = text.slice(end + 2);
        }
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
  function take(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split("\n")) {
      if (line.startsWith(":")) comments.push(line.slice(1).trim());
      else fields.set(line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim());
    }
    const id = fields.get("id");
    if (id !== undefined) ids.push(id);
    const data = fields.get("data");
    if (data !== undefined) events.push({ id: id ?? "", event: fields.get("event") ?? "", data: JSON.parse(data) });
  }
  const ended = read();
  ended.catch(() => {});
  return {
    status: response.status,
    headers: response.headers,
    events,
    ids,
    comments,
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
export function textOf(events: readonly SentEvent[]): string {
  return events
    .filter(({ event, data }) => event === "message" && data.role === "assistant")
    .map(({ data }) => data.content)
    .join("");
}

export function kindsOf(events: readonly SentEvent[]): string[] {
  return events.map(({ event }) => event);
}

/** Fails unless each id is one more than the one before. */
export function expectDense(ids: readonly string[]): void {
  const numbers = ids.map(Number);
  const first = numbers[0] ?? 0;
  const wanted = numbers.map((_, index) => first + index);
  if (numbers.join() !== wanted.join()) throw new Error(`event ids have gaps or repeats: ${numbers.join()}`);
}
