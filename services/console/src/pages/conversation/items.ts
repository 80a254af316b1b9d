import type { ChatEvent, HistoryMessage, Receipt } from "@toolgate/chat-client/events";

/** A message, whose HTML may still be growing when it is the assistant's. */
export interface MessageItem {
  kind: "message";
  key: string;
  role: "user" | "assistant";
  /** Plain text of the user, HTML of the assistant. */
  content: string;
  files: readonly string[];
  isStreaming: boolean;
}

/** A call of a tool. */
export interface ToolItem {
  kind: "tool";
  key: string;
  id: string;
  tool: string;
  state: "running" | "succeeded" | "failed";
  durationMs: number | undefined;
  /** Of the change that the builder assistant proposes with it. */
  proposalId?: string | undefined;
  /** It belongs to an answer that this page has asked for. */
  isLive: boolean;
}

export type Item =
  | MessageItem
  | ToolItem
  | { kind: "error"; key: string; text: string }
  | { kind: "receipt"; key: string; receipt: Receipt };

/** What a conversation shows, in order. */
export interface Shown {
  items: readonly Item[];
  /** Messages that the user may click instead of typing. */
  suggestions: readonly string[];
}

export const NOTHING: Shown = { items: [], suggestions: [] };

/** What the page itself adds. */
export function withMessage(shown: Shown, text: string, files: readonly string[]): Shown {
  const key = `sent ${shown.items.length}`;
  const message = { kind: "message", key, role: "user", content: text, files, isStreaming: false } as const;
  return { items: [...shown.items, message], suggestions: [] };
}

export function withError({ items, suggestions }: Shown, text: string): Shown {
  const ended = items.map(asEnded);
  return { items: [...ended, { kind: "error", key: `error ${items.length}`, text }], suggestions };
}

/** Older messages above the others. */
export function withOlder({ items, suggestions }: Shown, messages: readonly HistoryMessage[]): Shown {
  const older = messages.map(({ role, content, created, files = [] }) => {
    const key = `older ${created} ${role}`;
    return { kind: "message", key, role, content, files, isStreaming: false } as const;
  });
  return { items: [...older, ...items], suggestions };
}

export interface EventOptions {
  /** It belongs to an answer that this page has asked for. */
  isLive: boolean;
  /** The files of messages that are replayed, by the time of the message. */
  files?: ReadonlyMap<string, readonly string[]> | undefined;
}

export function withEvent(shown: Shown, event: ChatEvent, { isLive, files }: EventOptions): Shown {
  const { items, suggestions } = shown;
  const key = `${event.event} ${event.id || items.length}`;
  switch (event.event) {
    case "message": {
      const { role, content, created = "" } = event.data;
      const last = items.at(-1);
      if (role === "assistant" && last?.kind === "message" && last.role === "assistant" && last.isStreaming) {
        const grown = { ...last, content: last.content + content };
        return { items: [...items.slice(0, -1), grown], suggestions: [] };
      }
      const message: MessageItem = {
        kind: "message",
        key,
        role,
        content,
        files: (role === "user" && files?.get(created)) || [],
        isStreaming: role === "assistant",
      };
      return { items: [...items.map(asEnded), message], suggestions: [] };
    }
    case "tool_start": {
      const { id, tool } = event.data;
      const call: ToolItem = { kind: "tool", key, id, tool, state: "running", durationMs: undefined, isLive };
      return { items: [...items.map(asEnded), call], suggestions };
    }
    case "tool_complete": {
      const { id, success, duration_ms: durationMs, proposal_id: proposalId } = event.data;
      const state = success ? "succeeded" : "failed";
      const changed = items.map((item) =>
        item.kind === "tool" && item.id === id ? { ...item, state, durationMs, proposalId } : item,
      );
      return { items: changed as Item[], suggestions };
    }
    case "suggestions":
      return { items, suggestions: event.data.items };
    case "error":
      return withError(shown, event.data.error.message);
    case "done": {
      const { receipt } = event.data;
      const ended = items.map(asEnded);
      return { items: receipt ? [...ended, { kind: "receipt", key, receipt }] : ended, suggestions };
    }
    default:
      return shown;
  }
}

function asEnded(item: Item): Item {
  return item.kind === "message" && item.isStreaming ? { ...item, isStreaming: false } : item;
}
