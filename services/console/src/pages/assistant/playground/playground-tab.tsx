import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { PLAYGROUND } from "../../../text/en/assistants/assistants.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/dialog/confirm.tsx";
import { Checkbox } from "../../../ui/form/input.tsx";
import { ConversationView } from "../../conversation/conversation.tsx";
import { newChatId } from "../../conversation/new-chat-id.ts";
import { useConversation } from "../../conversation/use-conversation.ts";
import type { AssistantTabProps } from "../assistant-tab.ts";
import styles from "./playground.module.css";

const route = getRouteApi("/shell/assistants/$name");

/** A chat with the assistant as it is saved. Its id is in the URL from its first message on. */
export default function PlaygroundTab({ assistant: { name } }: AssistantTabProps) {
  const { chat } = route.useSearch();
  const navigate = route.useNavigate();
  const [newId, setNewId] = useState(newChatId);
  const [testMode, setTestMode] = useState(true);
  const [isResetting, setResetting] = useState(false);
  const conversation = useConversation({ chatId: chat ?? newId, assistant: name, testMode });
  const show = (id: string | undefined, replace: boolean) =>
    void navigate({ search: (before) => ({ ...before, chat: id }), replace });
  return (
    <div className={styles.playground}>
      <div className={styles.bar}>
        <span>{PLAYGROUND.saved}</span>
        <Button
          disabled={chat === undefined}
          onClick={() => {
            setNewId(newChatId());
            show(undefined, false);
          }}
        >
          {PLAYGROUND.newChat}
        </Button>
        <Button disabled={conversation.items.length === 0} onClick={() => setResetting(true)}>
          {PLAYGROUND.reset}
        </Button>
      </div>
      <ConversationView conversation={conversation} takesFiles onSend={() => chat === undefined && show(newId, true)}>
        <Checkbox
          label={PLAYGROUND.testMode}
          checked={testMode}
          onChange={({ target }) => setTestMode(target.checked)}
        />
      </ConversationView>
      {isResetting && (
        <Confirm
          title={PLAYGROUND.resetTitle}
          action={PLAYGROUND.reset}
          onConfirm={conversation.reset}
          onClose={() => setResetting(false)}
        >
          <p>{PLAYGROUND.resetText}</p>
        </Confirm>
      )}
    </div>
  );
}
