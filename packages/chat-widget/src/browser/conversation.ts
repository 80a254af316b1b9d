import { type Chat, createChat } from "@toolgate/chat-client/chat";
import type { ChatEvent, HistoryMessage } from "@toolgate/chat-client/events";
import { ChatError } from "@toolgate/chat-client/retries";
import { createMemory, newId, type Pending } from "./memory.ts";
import { tokenFrom } from "./token.ts";
import { type ShownAnswer, View } from "./view.ts";

export interface WidgetOptions {
  /** The chat server's address. */
  baseUrl: string;
  /** The workspace's code. */
  tenant: string;
  /** An address of the site's own server: see docs/widget.md. */
  tokenUrl: string;
  title?: string | undefined;
  /** Shown in an empty chat. */
  greeting?: string | undefined;
  assistant?: string | undefined;
}

const PAGE = 50;

/** Connects the view with the chat: shows the history, sends messages, and continues an answer after a reload. */
export class Conversation {
  readonly #options: WidgetOptions;
  readonly #memory;
  readonly #view;
  #chat: Chat;
  /** Resolves once the history is shown and the answer that was running has ended. */
  #loaded: Promise<void> | undefined;
  #isNew = false;
  #left = new AbortController();

  constructor(parent: Element, options: WidgetOptions) {
    this.#options = options;
    this.#memory = createMemory(`toolgate ${options.baseUrl} ${options.tenant}`);
    this.#chat = this.#newChat();
    this.#view = new View(parent, options.title ?? "Chat", {
      send: (text) => void this.#sendNew(text),
      stop: () => void this.#stop(),
      startNewChat: () => this.#startNewChat(),
      open: () => this.#open(),
      close: () => {
        this.#memory.isOpen = false;
      },
    });
    if (this.#memory.isOpen || this.#memory.pending) this.#view.open({ focus: false });
  }

  #newChat(): Chat {
    const { baseUrl, tenant, tokenUrl, assistant } = this.#options;
    return createChat({
      baseUrl,
      tenant,
      chatId: this.#memory.chatId,
      token: tokenFrom(tokenUrl),
      ...(assistant !== undefined && { assistant }),
      onConnection: (isConnected) => this.#view.status(isConnected ? "" : "Connection lost. Reconnecting…"),
    });
  }

  #open(): void {
    this.#memory.isOpen = true;
    if (this.#loaded) return;
    const { pending } = this.#memory;
    this.#loaded = pending ? this.#send(pending, { hasHistory: false }) : this.#load();
  }

  /** Waits for the history, which would show the message and its answer a second time if it came later. */
  async #sendNew(message: string): Promise<void> {
    const { signal } = this.#left;
    const pending = { clientMessageId: newId(), message };
    this.#memory.pending = pending;
    this.#view.busy(true);
    await this.#loaded;
    if (!signal.aborted) await this.#send(pending, { hasHistory: true });
  }

  /** Also sends a message again after a reload has cut its answer: it is answered only once. `hasHistory`: the view shows it already. */
  async #send(pending: Pending, { hasHistory }: { hasHistory: boolean }): Promise<void> {
    this.#memory.pending = pending;
    this.#view.addUser(pending.message);
    this.#view.suggest([]);
    const { signal } = this.#left;
    const events = this.#chat.send(pending.message, { clientMessageId: pending.clientMessageId, signal });
    const isEnded = await this.#show(events, async (id) => {
      if (hasHistory) return;
      hasHistory = true;
      this.#showHistory((await this.#chat.history({ before: id, limit: PAGE })).messages);
    });
    if (!isEnded) return;
    this.#memory.pending = undefined;
    if (hasHistory) return;
    // An answer that was not streamed does not say where it is in the chat.
    this.#view.clear();
    await this.#load();
  }

  async #load(): Promise<void> {
    const { signal } = this.#left;
    try {
      const { messages, greeting, suggestions = [] } = await this.#chat.history({ limit: PAGE });
      if (signal.aborted) return;
      this.#showHistory(messages);
      const last = messages.at(-1);
      const first = this.#options.greeting ?? greeting;
      if (!last && first) this.#view.addAssistant(escaped(first));
      if (!last) this.#view.suggest(suggestions);
      if (last) await this.#show(this.#chat.resume({ since: last.created, signal }));
    } catch (error) {
      // Somebody else has signed in, and the remembered chat is not theirs.
      const isForbidden = error instanceof ChatError && error.code === "FORBIDDEN";
      if (isForbidden && !this.#isNew) return this.#loadNew();
      this.#fail(error);
    }
  }

  /** Shows events as they arrive. Resolves with whether the answer is over; without a connection it is not. */
  async #show(events: AsyncIterable<ChatEvent>, onSent?: (id: number) => Promise<void>): Promise<boolean> {
    const { signal } = this.#left;
    let answer: ShownAnswer | undefined;
    const endAnswer = () => {
      answer?.end();
      answer = undefined;
    };
    this.#view.busy(true);
    try {
      for await (const event of events) {
        if (event.event === "sent") await onSent?.(event.id);
        else if (event.event === "message" && event.data.role === "user") {
          endAnswer();
          this.#view.addUser(event.data.content);
        } else if (event.event === "message") {
          this.#view.status("");
          answer ??= this.#view.answer();
          answer.add(event.data.content);
        } else if (event.event === "tool_start") this.#view.status(`Using ${event.data.tool}…`);
        else if (event.event === "tool_complete") this.#view.status("");
        else if (event.event === "suggestions") this.#view.suggest(event.data.items);
        else if (event.event === "error") this.#view.addError(event.data.error.message);
        else this.#view.status(event.data.receipt?.stopped ? "Stopped." : "");
      }
    } catch (error) {
      if (signal.aborted) return false;
      this.#fail(error);
      return !(error instanceof ChatError && error.code === "CONNECTION_LOST");
    } finally {
      endAnswer();
      if (!signal.aborted) this.#view.busy(false);
    }
    return true;
  }

  async #stop(): Promise<void> {
    this.#view.status("Stopping…");
    try {
      await this.#chat.stop();
    } catch (error) {
      this.#fail(error);
    }
  }

  #startNewChat(): void {
    // The answer of the old chat is no longer shown.
    this.#left.abort();
    this.#left = new AbortController();
    this.#view.busy(false);
    this.#loaded = this.#loadNew();
  }

  /** The old chat stays at the server. */
  #loadNew(): Promise<void> {
    this.#memory.forget();
    this.#isNew = true;
    this.#chat = this.#newChat();
    this.#view.clear();
    return this.#load();
  }

  #showHistory(messages: readonly HistoryMessage[]): void {
    for (const { role, content } of messages.toReversed()) {
      if (role === "user") this.#view.addUser(content, { before: true });
      else this.#view.addAssistant(content, { before: true });
    }
  }

  #fail(error: unknown): void {
    const message = error instanceof ChatError ? error.message : "Something went wrong.";
    this.#view.addError(message);
    this.#view.status("");
  }
}

function escaped(text: string): string {
  const element = document.createElement("p");
  element.textContent = text;
  return element.outerHTML;
}
