import { getRouteApi } from "@tanstack/react-router";
import { type Proposal, ProposalState } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import { type ReactNode, useState } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { BUILDER } from "../../text/en/assistants/builder.ts";
import { Button } from "../../ui/button.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Page } from "../../ui/page/page.tsx";
import { ConversationView } from "../conversation/conversation.tsx";
import type { Item, ToolItem } from "../conversation/items.ts";
import { newChatId } from "../conversation/new-chat-id.ts";
import { ToolCard } from "../conversation/tool-card.tsx";
import { useConversation } from "../conversation/use-conversation.ts";
import styles from "./builder.module.css";
import { BUILDER_NAME } from "./name.ts";
import { ProposalCard } from "./proposal-card.tsx";
import { isYes, type LastQuestion, lastQuestion, takesYes, withCardsLast } from "./question.ts";
import { useConfirmProposal } from "./use-confirm-proposal.ts";

const route = getRouteApi("/shell/managed/builder");

/** [BLD-29] Tools are released and changed by talking. The chat's id is in the URL from its first message on. */
export function BuilderPage() {
  const { chat, tool } = route.useSearch();
  const navigate = route.useNavigate();
  const [newId, setNewId] = useState(newChatId);
  const conversation = useConversation({ chatId: chat ?? newId, assistant: BUILDER_NAME });
  const { confirm, shown, isPending } = useConfirmProposal();
  const [notice, setNotice] = useState<ReactNode>();
  const { items, suggestions, isAnswering } = conversation;
  const show = (id: string | undefined, replace: boolean) => void navigate({ search: { chat: id }, replace });
  const last = lastQuestion(items);
  const send = async (message: string) => {
    const proposal = last && shown(last.proposalId);
    const confirms = isYes(message) && last && proposal && takesYes(last, proposal);
    const isInVain = isYes(message) && !confirms && mayBeOpen(items, shown);
    setNotice(isInVain && <p role="status">{BUILDER.notCounted}</p>);
    try {
      if (confirms) await confirm(last.proposalId);
    } catch (error) {
      const failure = failureOf(error);
      // A conflict is on the card, and the assistant looks it up.
      if (!failure.isConflict) return setNotice(<FailureText failure={failure} />);
    }
    conversation.send(message);
  };
  return (
    <Page
      title={BUILDER.title}
      actions={
        <Button
          disabled={chat === undefined}
          onClick={() => {
            setNotice(undefined);
            setNewId(newChatId());
            show(undefined, false);
          }}
        >
          {BUILDER.newChat}
        </Button>
      }
    >
      <p className={styles.dim}>{BUILDER.about}</p>
      <ConversationView
        conversation={{
          ...conversation,
          items: withCardsLast(items),
          suggestions: tool !== undefined && items.length === 0 ? [BUILDER.release(tool)] : suggestions,
          isAnswering: isAnswering || isPending,
          send: (message) => void send(message),
        }}
        renderTool={(call) => cardOf(call, conversation.chatId, last)}
        onSend={() => chat === undefined && show(newId, true)}
      >
        {notice}
      </ConversationView>
    </Page>
  );
}

/** A card of the conversation is open, or not loaded. */
function mayBeOpen(items: readonly Item[], shown: (proposalId: string) => Proposal | undefined): boolean {
  return items.some((item) => {
    if (item.kind !== "tool" || item.proposalId === undefined) return false;
    const { state = ProposalState.OPEN } = shown(item.proposalId) ?? {};
    return state === ProposalState.OPEN;
  });
}

/** What it looked up is closed: it says what it has found. */
function cardOf(call: ToolItem, chatId: string, last: LastQuestion | undefined) {
  const { proposalId } = call;
  if (proposalId !== undefined) return <ProposalCard proposalId={proposalId} last={last} />;
  return <ToolCard chatId={chatId} call={{ ...call, isLive: false }} />;
}
