import { type ReactNode, useLayoutEffect, useRef } from "react";
import { CONVERSATION, receiptText } from "../../text/en/assistants/conversation.ts";
import { Button } from "../../ui/button.tsx";
import { Hidden } from "../../ui/hidden.tsx";
import { AnswerHtml } from "./answer-html.tsx";
import styles from "./conversation.module.css";
import type { Item, ToolItem } from "./items.ts";
import { ToolCard } from "./tool-card.tsx";
import type { Conversation } from "./use-conversation.ts";

/** When the list is scrolled to within this distance of its end, it follows what is added. */
const NEAR_END_PX = 60;

interface MessageListProps {
  conversation: Conversation;
  /** What to show of a call instead of a card; undefined for the card. */
  renderTool?: ((call: ToolItem) => ReactNode) | undefined;
}

export function MessageList({ conversation, renderTool }: MessageListProps) {
  const { items, greeting, isLoaded, isAnswering, hasOlder, loadOlder, chatId } = conversation;
  const log = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (isAtEnd.current && log.current) log.current.scrollTop = log.current.scrollHeight;
  }, [items]);
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: React.UIEvent) => {
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
  };
  return (
    <div
      ref={log}
      role="log"
      aria-label={CONVERSATION.messages}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be within reach of the keyboard
      tabIndex={0}
      className={styles.log}
      onScroll={onScroll}
    >
      {hasOlder && <Button onClick={loadOlder}>{CONVERSATION.older}</Button>}
      {isLoaded && items.length === 0 && !isAnswering && greeting !== "" && (
        <Message by="assistant">
          <p className={styles.plain}>{greeting}</p>
        </Message>
      )}
      {items.map((item) => (
        <ItemView key={item.key} item={item} chatId={chatId} renderTool={renderTool} />
      ))}
    </div>
  );
}

interface ItemViewProps extends Pick<MessageListProps, "renderTool"> {
  item: Item;
  chatId: string;
}

function ItemView({ item, chatId, renderTool }: ItemViewProps) {
  switch (item.kind) {
    case "message":
      return (
        <Message by={item.role} isBusy={item.isStreaming}>
          {item.role === "assistant" ? (
            <AnswerHtml html={item.content} />
          ) : (
            <p className={styles.plain}>{item.content}</p>
          )}
          {item.files.map((name) => (
            <p key={name} className={styles.file}>
              {name}
            </p>
          ))}
        </Message>
      );
    case "tool":
      return renderTool?.(item) ?? <ToolCard chatId={chatId} call={item} />;
    case "error":
      return (
        <p role="alert" className={styles.error}>
          {item.text}
        </p>
      );
    case "receipt":
      return (
        <p className={styles.receipt}>
          {receiptText(item.receipt)}
          {item.receipt.suppressed.length > 0 && ` · ${CONVERSATION.suppressed(item.receipt.suppressed)}`}
        </p>
      );
  }
}

interface MessageProps {
  by: "user" | "assistant";
  isBusy?: boolean;
  children: ReactNode;
}

function Message({ by, isBusy = false, children }: MessageProps) {
  const isUser = by === "user";
  return (
    <article className={`${styles.message} ${isUser ? styles.user : styles.assistant}`} aria-busy={isBusy || undefined}>
      <Hidden>{isUser ? CONVERSATION.you : CONVERSATION.assistant}: </Hidden>
      {children}
    </article>
  );
}
