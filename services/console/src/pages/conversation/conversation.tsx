import type { ReactNode } from "react";
import { CONVERSATION } from "../../text/en/assistants/conversation.ts";
import { Composer } from "./composer.tsx";
import styles from "./conversation.module.css";
import type { ToolItem } from "./items.ts";
import { MessageList } from "./message-list.tsx";
import type { Conversation } from "./use-conversation.ts";

interface ConversationViewProps {
  /** From `useConversation`. */
  conversation: Conversation;
  /** A message is about to be sent. */
  onSend?: () => void;
  /** What to show of a call instead of a card; undefined for the card. */
  renderTool?: (call: ToolItem) => ReactNode;
  takesFiles?: boolean;
  /** Beside the buttons of the composer. */
  children?: ReactNode;
}

/** A chat with an assistant: its messages, the tools that it calls, and where the user writes. It fills its place. */
export function ConversationView({
  conversation,
  onSend,
  renderTool,
  takesFiles = false,
  children,
}: ConversationViewProps) {
  return (
    <div className={styles.conversation}>
      <MessageList conversation={conversation} renderTool={renderTool} />
      <p role="status" className={styles.status}>
        {statusOf(conversation)}
      </p>
      <Composer conversation={conversation} onSend={onSend} takesFiles={takesFiles}>
        {children}
      </Composer>
    </div>
  );
}

function statusOf({ isLoaded, isConnected, isAnswering, items }: Conversation): string {
  if (!isConnected) return CONVERSATION.reconnecting;
  if (!isLoaded) return CONVERSATION.loading;
  const last = items.at(-1);
  if (!isAnswering || (last?.kind === "message" && last.role === "assistant")) return "";
  return last?.kind === "tool" && last.state === "running" ? CONVERSATION.using(last.tool) : CONVERSATION.thinking;
}
