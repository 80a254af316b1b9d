import { type Api, type ApiOptions, type ApiRequest, createApi } from "./api.ts";
import type { ChatEvent, HistoryPage } from "./events.ts";
import { ChatError, Retries, type RetryOptions } from "./retries.ts";
import { readBlocks } from "./sse.ts";

export interface ChatOptions extends ApiOptions, RetryOptions {
  /** The name of an assistant; default: the workspace's default. */
  assistant?: string;
  /** Tools write nothing. */
  testMode?: boolean;
  /**
   * A connection on which nothing arrives for this long is replaced; the server sends something every 15 s. Default:
   * 40,000.
   */
  silenceMs?: number;
  /** Called with false while a stream waits to connect again, and with true once it is connected. */
  onConnection?: (isConnected: boolean) => void;
}

export interface SendOptions {
  /** Your own id, unique in the chat: a message is answered once, however often it is sent. */
  clientMessageId?: string;
  /** The answer then comes as one event. */
  file?: Blob;
  fileName?: string;
  signal?: AbortSignal;
}

export interface ResumeOptions {
  /** Continues after the event with this id. */
  after?: number;
  /** Alternatively: begins with whole messages created after this time, then continues with the running answer. */
  since?: string | Date;
  /** False: ends after the stored events, even while an answer is running. */
  follow?: boolean;
  signal?: AbortSignal;
}

/**
 * A chat with an assistant. Lost connections are replaced and continue after the last event, so that no event is missing or
 * comes twice. Everything rejects with a ChatError when the server refuses, and with the signal's reason when it fires.
 */
export interface Chat {
  /**
   * Sends a message and yields its answer, up to `done`. An answer that fails yields `error` before that. The answer
   * continues at the server when the loop is left early.
   */
  send(message: string, options?: SendOptions): AsyncGenerator<ChatEvent, void>;
  /** Yields what came after an event or a time, and the rest of the running answer, up to `done`. Sends no message. */
  resume(options: ResumeOptions): AsyncGenerator<ChatEvent, void>;
  /**
   * All messages; with `before` or `limit`, one page of them: the newest `limit` before an event id. A chat without messages
   * has its assistant's greeting.
   */
  history(page?: { before?: number; limit?: number }): Promise<HistoryPage>;
  /** Stops the running answer, which keeps what it has so far. Resolves with whether there was one. */
  stop(): Promise<boolean>;
  /** Deletes the chat's messages. Its id can still be used. */
  reset(): Promise<void>;
}

/** Longer messages do not fit in an address; their answers come as one event. */
const MAX_QUERY_CHARS = 4_000;

export function createChat(options: ChatOptions): Chat {
  const { assistant, testMode, silenceMs = 40_000, onConnection } = options;
  const api = createApi(options);

  async function call<T>(request: ApiRequest): Promise<T> {
    const retries = new Retries(options, request.signal);
    for (;;) {
      try {
        return (await (await api(request)).json()) as T;
      } catch (error) {
        await retries.wait(error);
      }
    }
  }

  /** Yields events until `done`, over as many connections as it takes. `requestAfter` gets the last id, 0 before the first. */
  async function* follow(
    requestAfter: (last: number) => ApiRequest,
    { after = 0, signal, isAnswer = false }: { after?: number; signal: AbortSignal | undefined; isAnswer?: boolean },
  ): AsyncGenerator<ChatEvent, void> {
    const retries = new Retries(options, signal);
    let last = after;
    for (;;) {
      const connection = new AbortController();
      let isSilent = false;
      let failure: unknown;
      const leave = () => connection.abort(signal?.reason);
      signal?.addEventListener("abort", leave);
      try {
        signal?.throwIfAborted();
        const response = await open(api, { ...requestAfter(last), signal: connection.signal }, silenceMs, () => {
          isSilent = true;
          connection.abort();
        });
        onConnection?.(true);
        for await (const block of response) {
          const { id: idText, event, data } = block;
          const id = Number(idText ?? last);
          const isFirst = isAnswer && last === 0;
          const isNew = id > last;
          if (isNew) {
            last = id;
            retries.progress();
          }
          if (isFirst && isNew) yield { id, event: "sent", data: {} };
          // Only the last event may repeat an id: the chat's own, when nothing new has happened.
          if (data === undefined || event === undefined || event === "sent" || !(isNew || event === "done")) continue;
          yield { id, event, data: JSON.parse(data) } as ChatEvent;
          if (event === "done") return;
        }
      } catch (error) {
        if (!isSilent) failure = error;
      } finally {
        signal?.removeEventListener("abort", leave);
        connection.abort();
      }
      onConnection?.(false);
      await retries.wait(failure);
    }
  }

  /** Yields an answer that is not streamed, as the same events. */
  async function* whole(
    body: Record<string, unknown> | FormData,
    signal?: AbortSignal,
  ): AsyncGenerator<ChatEvent, void> {
    const done = { id: 0, event: "done" } as const;
    try {
      const { reply, receipt } = await call<{ reply: string; receipt: never }>({ path: "/chat/index", body, signal });
      yield { id: 0, event: "message", data: { role: "assistant", content: reply } };
      yield { ...done, data: { resumed: false, receipt } };
    } catch (error) {
      const isAnswer = error instanceof ChatError && (error.status === 500 || error.code === "BUDGET_EXCEEDED");
      if (!isAnswer || error.isPassing) throw error;
      yield { id: 0, event: "error", data: { error: { code: error.code, message: error.message } } };
      yield { ...done, data: { resumed: false } };
    }
  }

  return {
    send(message, { clientMessageId = newId(), file, fileName = "file", signal } = {}) {
      const fields = {
        message,
        client_message_id: clientMessageId,
        ...(assistant !== undefined && { assistant }),
        ...(testMode && { test_mode: true }),
      };
      if (file) {
        const form = new FormData();
        for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
        form.set("file", file, fileName);
        return whole(form, signal);
      }
      if (encodeURIComponent(message).length > MAX_QUERY_CHARS) return whole(fields, signal);
      // The same message joins the answer that it started before.
      const request = (last: number) => ({
        path: "/chat/stream",
        query: { ...fields, after_event_id: last || undefined },
      });
      return follow(request, { signal, isAnswer: true });
    },
    resume({ after, since, follow: isFollowed, signal }) {
      const time = since instanceof Date ? since.toISOString() : since;
      return follow(
        (last) => {
          const hasId = last > 0 || after !== undefined;
          const point = hasId ? { last_event_id: last } : { since: time };
          return { path: "/chat/resume", query: { ...point, follow: isFollowed } };
        },
        { after: after ?? 0, signal },
      );
    },
    history: (page = {}) => call({ path: "/chat/history", query: { ...(assistant && { assistant }), ...page } }),
    stop: async () => (await call<{ stopped: boolean }>({ path: "/chat/stop", body: {} })).stopped,
    async reset() {
      await call({ path: "/chat/reset", body: {} });
    },
  };
}

/** Not randomUUID, which pages without https do not have. */
function newId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}

/** Rejects when there is no response in time. */
async function open(api: Api, request: ApiRequest, silenceMs: number, onSilence: () => void) {
  const timer = setTimeout(onSilence, silenceMs);
  try {
    const { body } = await api(request);
    if (!body) throw new TypeError("the response has no body");
    return readBlocks(body, silenceMs, onSilence);
  } finally {
    clearTimeout(timer);
  }
}
