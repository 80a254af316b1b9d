import { createChat } from "@toolgate/chat-client/chat";
import type { ChatEvent } from "@toolgate/chat-client/events";
import { useEffect, useMemo, useRef, useState } from "react";
import { sessionFetch } from "../../rpc/session-fetch.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { CONVERSATION } from "../../text/en/assistants/conversation.ts";
import { type EventOptions, NOTHING, type Shown, withError, withEvent, withMessage, withOlder } from "./items.ts";

export interface ConversationOptions {
  /** Chosen by the page; the chat begins with its first message. */
  chatId: string;
  /** The workspace's default when not set. */
  assistant?: string;
  /** Tools write nothing. */
  testMode?: boolean;
}

export interface Conversation extends Shown {
  chatId: string;
  /** What the assistant says first, in a chat without messages. */
  greeting: string;
  isLoaded: boolean;
  /** An answer is being written, here or elsewhere. */
  isAnswering: boolean;
  isConnected: boolean;
  hasOlder: boolean;
  send: (message: string, file?: File) => void;
  stop: () => void;
  /** Deletes the messages; the chat's id stays. Rejects when the server refuses. */
  reset: () => Promise<void>;
  loadOlder: () => void;
}

const PAGE = 50;

/**
 * A chat with an assistant. What has been said is read from the server, then its running answer is followed: so a reload in
 * the middle of an answer shows the rest, and an answer goes on when the page is left.
 */
export function useConversation({ chatId, assistant, testMode = false }: ConversationOptions): Conversation {
  const tenant = useWorkspace();
  const [shown, setShown] = useState(NOTHING);
  const [greeting, setGreeting] = useState("");
  const [older, setOlder] = useState<number>();
  const [isLoaded, setLoaded] = useState(false);
  const [isAnswering, setAnswering] = useState(false);
  const [isConnected, setConnected] = useState(true);
  const left = useRef(new AbortController());
  /** Resolves once the history is shown and the answer that was running has ended. */
  const loaded = useRef(Promise.resolve());
  const chat = useMemo(
    () => createChat({ tenant, chatId, assistant, testMode, fetch: sessionFetch, onConnection: setConnected }),
    [tenant, chatId, assistant, testMode],
  );

  const fail = (error: unknown, signal: AbortSignal) => {
    if (!signal.aborted) setShown((before) => withError(before, messageOf(error)));
  };

  /** Shows events until the last one. Resolves with whether they had ids. */
  async function follow(events: AsyncIterable<ChatEvent>, signal: AbortSignal, options: EventOptions) {
    let hasIds = false;
    setAnswering(true);
    try {
      for await (const event of events) {
        if (signal.aborted) return hasIds;
        hasIds ||= event.id > 0;
        setShown((before) => withEvent(before, event, options));
      }
    } catch (error) {
      fail(error, signal);
    } finally {
      if (!signal.aborted) setAnswering(false);
    }
    return hasIds;
  }

  async function load(signal: AbortSignal) {
    try {
      const {
        messages,
        next_before: nextBefore,
        greeting: first = "",
        suggestions = [],
      } = await chat.history({ limit: PAGE });
      if (signal.aborted) return;
      setGreeting(first);
      setOlder(nextBefore ?? undefined);
      setShown({ items: [], suggestions });
      setLoaded(true);
      const files = new Map(messages.map((message) => [message.created, message.files ?? []]));
      const since = messages[0] ? Date.parse(messages[0].created) - 1 : 0;
      await follow(chat.resume({ since: new Date(since), signal }), signal, { isLive: false, files });
    } catch (error) {
      setLoaded(true);
      fail(error, signal);
    }
  }

  function begin() {
    left.current.abort();
    left.current = new AbortController();
    loaded.current = load(left.current.signal);
    return loaded.current;
  }

  useEffect(() => {
    setShown(NOTHING);
    setGreeting("");
    setOlder(undefined);
    setLoaded(false);
    setAnswering(false);
    void begin();
    return () => left.current.abort();
  }, [tenant, chatId]);

  async function send(message: string, file?: File) {
    const { signal } = left.current;
    setAnswering(true);
    // What comes later would replace the message.
    await loaded.current;
    if (signal.aborted) return;
    setShown((before) => withMessage(before, message, file ? [file.name] : []));
    const attached = file && { file, fileName: file.name };
    const wasStreamed = await follow(chat.send(message, { ...attached, signal }), signal, { isLive: true });
    // An answer that came as a whole does not say which tools ran.
    if (!wasStreamed && !signal.aborted) await load(signal);
  }

  return {
    ...shown,
    chatId,
    greeting,
    isLoaded,
    isAnswering,
    isConnected,
    hasOlder: older !== undefined,
    send: (message, file) => void send(message, file),
    stop: () => {
      const { signal } = left.current;
      chat.stop().catch((error) => fail(error, signal));
    },
    async reset() {
      await chat.reset();
      await begin();
    },
    loadOlder: () => {
      const { signal } = left.current;
      const read = async () => {
        const { messages, next_before: nextBefore } = await chat.history({ before: older, limit: PAGE });
        if (signal.aborted) return;
        setOlder(nextBefore ?? undefined);
        setShown((before) => withOlder(before, messages));
      };
      read().catch((error) => fail(error, signal));
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== "" ? error.message : CONVERSATION.failed;
}
