import { setTimeout as sleep } from "node:timers/promises";
import { createChat } from "@toolgate/chat-client/chat";
import type { SentEvent } from "../chat/client.ts";
import type { ChatFrontDoor } from "../chat/front-door.ts";
import { chatIdOf, messageOf } from "./chats.ts";

/** What a reader got of one answer. */
export interface ReadAnswer {
  number: number;
  /** The ids of everything that was sent, in order, without 0. */
  ids: number[];
  events: Pick<SentEvent, "event" | "data">[];
  connections: number;
  /** Connections that the server refused with a 5xx, or that were not made. */
  refusals: string[];
}

const DEADLINE_MS = 180_000;
const SILENCE_MS = 20_000;
/** Shorter than the server's `retry:`, to save time. */
const RETRY_MS = 300;

const noneYet = (number: number): ReadAnswer => ({ number, ids: [], events: [], connections: 0, refusals: [] });
export const clientMessageIdOf = (number: number) => `m-${number}`;

/** Reads with the client library. */
export async function readWithClient(door: ChatFrontDoor, number: number): Promise<ReadAnswer> {
  const answer = noneYet(number);
  const chat = createChat({
    baseUrl: door.toolgate.baseUrl,
    tenant: door.tenant,
    chatId: chatIdOf(number),
    token: () => door.user.headers.authorization.slice("Bearer ".length),
    silenceMs: SILENCE_MS,
    onConnection: (isConnected) => {
      if (isConnected) answer.connections += 1;
    },
  });
  const options = { clientMessageId: clientMessageIdOf(number), signal: AbortSignal.timeout(DEADLINE_MS) };
  for await (const event of chat.send(messageOf(number), options)) {
    answer.ids.push(event.id);
    answer.events.push(event);
  }
  return answer;
}

/**
 * Reads as a browser's EventSource: the same request again, with Last-Event-ID. Nothing is left out. It breaks a connection
 * itself after so many events.
 */
export async function readLikeEventSource(
  door: ChatFrontDoor,
  number: number,
  eventsPerConnection = Number.POSITIVE_INFINITY,
): Promise<ReadAnswer> {
  const answer = noneYet(number);
  const parameters = {
    chat_id: chatIdOf(number),
    message: messageOf(number),
    client_message_id: clientMessageIdOf(number),
  };
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  while (answer.events.at(-1)?.event !== "done") {
    deadline.throwIfAborted();
    if (answer.connections + answer.refusals.length > 0) await sleep(RETRY_MS);
    const last = answer.ids.at(-1);
    const headers = { ...door.user.headers, ...(last !== undefined && { "last-event-id": String(last) }) };
    const stream = await door.stream(parameters, headers).catch((error: Error) => error);
    if (stream instanceof Error || stream.status >= 500) {
      answer.refusals.push(stream instanceof Error ? String(stream) : `${stream.status}`);
      continue;
    }
    if (stream.status !== 200) throw new Error(`connection ${answer.connections} got a ${stream.status}`);
    answer.connections += 1;
    await stream.until(() => stream.events.length >= eventsPerConnection).catch(() => {});
    stream.cut();
    // A connection that breaks is as good as one that ends.
    await stream.ended.catch(() => {});
    answer.ids.push(...stream.ids.map(Number));
    answer.events.push(...stream.events);
  }
  return answer;
}
