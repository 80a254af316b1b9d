import { useSearch } from "@tanstack/react-router";
import { type Chat, ChatLogService } from "@toolgate/gen/toolgate/chat/v1/chat_log_pb";
import { useWorkspace } from "../../rpc/use-session.ts";
import { CHATS } from "../../text/en/assistants/chats.ts";
import { type Column, ResourceList } from "../../ui/list/resource-list.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { useSetSearch } from "../../ui/list/use-set-search.ts";
import { Page } from "../../ui/page/page.tsx";
import { Time } from "../../ui/time.tsx";
import { ChatPanel } from "./chat-panel.tsx";

const COLUMNS: readonly Column<Chat>[] = [
  { header: CHATS.assistant, width: "minmax(100px, 1fr)", render: ({ assistant }) => assistant },
  { header: CHATS.started, width: "110px", render: ({ createdAt }) => <Time at={createdAt} /> },
  { header: CHATS.used, width: "110px", render: ({ usedAt }) => <Time at={usedAt} /> },
];

/** The user's own chats. */
export function ChatsPage() {
  const workspace = useWorkspace();
  const { open, at } = useSearch({ strict: false });
  const set = useSetSearch();
  const list = useList(
    ChatLogService.method.listChats,
    { workspace },
    { rowsOf: (page) => page.chats, keyOf: ({ chatId }) => chatId, isHeld: open !== undefined },
  );
  const opened = list.rows.find(({ chatId }) => chatId === open);
  return (
    <Page
      title={CHATS.title}
      panel={opened && <ChatPanel key={open} of={opened} onClose={() => set({ open: undefined })} />}
    >
      <ResourceList
        label={CHATS.title}
        list={list}
        columns={COLUMNS}
        nameOf={({ title }) => title || CHATS.noMessages}
        open={open}
        onOpen={(chatId) => set({ open: chatId })}
        empty={{ title: CHATS.empty, text: CHATS.emptyText }}
        isFiltered={false}
        onClearFilters={() => {}}
        at={at}
        onAt={(first) => set({ at: first })}
      />
    </Page>
  );
}
