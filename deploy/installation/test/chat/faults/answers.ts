import { setTimeout as sleep } from "node:timers/promises";
import { createChat } from "@toolgate/chat-client/chat";
import { type Block, readBlocks } from "@toolgate/chat-client/sse";
import type { ChatFrontDoor } from "../front-door.ts";

/** What a reader got of one answer. */
export interface ReadAnswer {
  chatId: string;
  clientMessageId: string;
  message: string;
  /** The ids of everything that was sent, in order, without 0. */
  ids: number[];
  /** Names of events, without message. */
  kinds: string[];
  text: string;
  connections: number;
}

export type Reader = (door: ChatFrontDoor, message: string, chatId: string) => Promise<ReadAnswer>;

const DEADLINE_MS = 180_000;
const SILENCE_MS = 20_000;
/** Shorter than the server's `retry:`, to save time. */
const RETRY_MS = 300;

/** Reads with the client library. */
export const readWithClient: Reader = async (door, message, chatId) => {
  const answer = empty(message, chatId);
  const chat = createChat({
    baseUrl: door.toolgate.baseUrl,
    tenant: door.tenant,
    chatId,
    token: () => door.user.headers.authorization.slice("Bearer ".length),
    silenceMs: SILENCE_MS,
    onConnection: (isConnected) => {
      if (isConnected) answer.connections += 1;
    },
  });
  const { clientMessageId } = answer;
  for await (const event of chat.send(message, { clientMessageId, signal: AbortSignal.timeout(DEADLINE_MS) })) {
    answer.ids.push(event.id);
    if (event.event !== "message") answer.kinds.push(event.event);
    else if (event.data.role === "assistant") answer.text += event.data.content;
  }
  return answer;
};

/** Reads as a browser's EventSource: the same request again, with Last-Event-ID. Nothing is left out. */
export const readLikeEventSource: Reader = async (door, message, chatId) => {
  const answer = empty(message, chatId);
  const { clientMessageId } = answer;
  const url = door.url("/chat/stream", { chat_id: chatId, message, client_message_id: clientMessageId });
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  while (answer.kinds.at(-1) !== "done") {
    deadline.throwIfAborted();
    const connection = new AbortController();
    const last = answer.ids.at(-1);
    const headers = { ...door.user.headers, ...(last !== undefined && { "last-event-id": String(last) }) };
    try {
      const signal = AbortSignal.any([deadline, connection.signal]);
      const response = await fetch(door.toolgate.baseUrl + url, { headers, signal });
      if (response.status === 204) throw new Error("the server has nothing left to send, but sent no done");
      if (response.ok && response.body) {
        answer.connections += 1;
        for await (const block of readBlocks(response.body, SILENCE_MS, () => connection.abort())) take(answer, block);
      } else if (response.status < 500) throw new Error(`refused with ${response.status}: ${await response.text()}`);
    } catch (error) {
      // The connection was lost, or nothing arrived.
      if (!(error instanceof TypeError) && !connection.signal.aborted) throw error;
    }
    await sleep(RETRY_MS);
  }
  return answer;
};

function take(answer: ReadAnswer, { id, event, data }: Block): void {
  if (id !== undefined) answer.ids.push(Number(id));
  if (event === undefined || data === undefined) return;
  if (event !== "message") answer.kinds.push(event);
  else answer.text += JSON.parse(data).content;
}

function empty(message: string, chatId: string): ReadAnswer {
  return { chatId, clientMessageId: `m-${chatId}`, message, ids: [], kinds: [], text: "", connections: 0 };
}
