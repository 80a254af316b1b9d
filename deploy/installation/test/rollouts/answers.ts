import { expectDense, openStream, type SentEvent, textOf } from "../chat/client.ts";
import type { Work } from "./work.ts";

/** An answer of a chat as its client has read it. */
export interface ChatAnswer {
  chatId: string;
  /** Connections after the first one. */
  reconnects: number;
  /** All pieces together. */
  text: string;
}

const MAX_CONNECTIONS = 100;

/**
 * Reads an answer as a browser's EventSource does: when a connection ends before the answer, it opens another one that
 * continues after the last event. With `cutAfterEvents` the client breaks each connection itself after so many events.
 * Throws when an event is lost or repeated, or a connection is refused.
 */
export async function readAnswer(
  { baseUrl, tenant, userHeaders }: Work,
  chatId: string,
  { cutAfterEvents = Number.POSITIVE_INFINITY } = {},
): Promise<ChatAnswer> {
  const url = `${baseUrl}/chat/stream?${new URLSearchParams({ tenant, chat_id: chatId, message: "a story" })}`;
  const events: SentEvent[] = [];
  let last: string | undefined;
  for (let connection = 0; connection < MAX_CONNECTIONS; connection += 1) {
    const stream = await openStream(url, { ...userHeaders, ...(last !== undefined && { "last-event-id": last }) });
    if (stream.status !== 200 && stream.status !== 204)
      throw new Error(`connection ${connection} got a ${stream.status}`);
    if (Number.isFinite(cutAfterEvents)) {
      await stream.until(() => stream.events.length >= cutAfterEvents).catch(() => {});
      stream.cut();
    }
    // A connection that breaks is as good as one that ends.
    await stream.ended.catch(() => {});
    events.push(...stream.events);
    last = stream.ids.at(-1) ?? last;
    const done = events.findLast(({ event }) => event === "done");
    if (!done && stream.status === 200) continue;
    expectDense(events.map(({ id }) => id));
    if (events.filter(({ event }) => event === "done").length !== 1) throw new Error("not one end of the answer");
    if (done?.data.receipt?.error || events.some(({ event }) => event === "error"))
      throw new Error(`an error: ${JSON.stringify(events.slice(-3))}`);
    return { chatId, reconnects: connection, text: textOf(events) };
  }
  throw new Error("the answer does not end");
}

/** The answer in the chat's history. */
export async function storedAnswer({ baseUrl, tenant, userHeaders }: Work, chatId: string): Promise<string> {
  const url = `${baseUrl}/chat/history?${new URLSearchParams({ tenant, chat_id: chatId })}`;
  const response = await fetch(url, { headers: userHeaders });
  if (response.status !== 200) throw new Error(`history: ${response.status} ${await response.text()}`);
  const { messages } = (await response.json()) as { messages: { role: string; content: string }[] };
  return messages
    .filter(({ role }) => role === "assistant")
    .map(({ content }) => content)
    .join("");
}
