import { Link } from "@tanstack/react-router";
import type { Chat } from "@toolgate/gen/toolgate/chat/v1/chat_log_pb";
import { CHATS } from "../../text/en/assistants/chats.ts";
import { Facts, Panel } from "../../ui/page/panel.tsx";
import { Time } from "../../ui/time.tsx";
import { BUILDER_NAME } from "../builder/name.ts";
import { MessageList } from "../conversation/message-list.tsx";
import { useConversation } from "../conversation/use-conversation.ts";

/** What has been said in a chat, and what is being said now. */
export function ChatPanel({ of, onClose }: { of: Chat; onClose: () => void }) {
  const { chatId, title, assistant, createdAt } = of;
  const conversation = useConversation({ chatId, assistant: assistant || undefined });
  return (
    <Panel
      title={title || CHATS.noMessages}
      onClose={onClose}
      actions={
        assistant === BUILDER_NAME ? (
          <Link to="/builder" search={{ chat: chatId }}>
            {CHATS.goOnBuilder}
          </Link>
        ) : (
          assistant !== "" && (
            <Link to="/assistants/$name" params={{ name: assistant }} search={{ tab: "playground", chat: chatId }}>
              {CHATS.goOn}
            </Link>
          )
        )
      }
    >
      <Facts
        facts={[
          [CHATS.id, <code key="id">{chatId}</code>],
          [CHATS.assistant, assistant],
          [CHATS.started, <Time key="at" at={createdAt} exact />],
        ]}
      />
      <MessageList conversation={conversation} />
    </Panel>
  );
}
