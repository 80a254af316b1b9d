import { useNavigate, useSearch } from "@tanstack/react-router";
import { type Assistant, AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { useState } from "react";
import { useCanManage, useWorkspace } from "../../rpc/use-session.ts";
import { ASSISTANTS } from "../../text/en/assistants/assistants.ts";
import { Button } from "../../ui/button.tsx";
import { type Column, ResourceList } from "../../ui/list/resource-list.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { useSetSearch } from "../../ui/list/use-set-search.ts";
import { Page } from "../../ui/page/page.tsx";
import { useShortcut } from "../../ui/shortcuts.ts";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { CreateAssistant } from "./create-assistant.tsx";

const COLUMNS: readonly Column<Assistant>[] = [
  {
    header: ASSISTANTS.state,
    width: "90px",
    render: ({ isDefault }) => isDefault && <Status tone="good">{ASSISTANTS.isDefault}</Status>,
  },
  {
    header: ASSISTANTS.models,
    width: "minmax(120px, 2fr)",
    render: ({ definition }) => definition?.models.join(", ") || ASSISTANTS.builtIn,
  },
  {
    header: ASSISTANTS.tools,
    width: "70px",
    align: "end",
    render: ({ definition }) => definition?.tools.length ?? 0,
  },
  { header: ASSISTANTS.saved, width: "110px", render: ({ savedAt }) => <Time at={savedAt} /> },
];

export function AssistantsPage() {
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const { at } = useSearch({ strict: false });
  const set = useSetSearch();
  const canManage = useCanManage();
  const [isCreating, setCreating] = useState(false);
  useShortcut("c", () => setCreating(canManage));
  const create = canManage && (
    <Button kind="primary" onClick={() => setCreating(true)}>
      {ASSISTANTS.create}
    </Button>
  );
  const list = useList(
    AssistantService.method.listAssistants,
    { workspace },
    { rowsOf: (page) => page.assistants, keyOf: ({ name }) => name },
  );
  return (
    <Page title={ASSISTANTS.title} actions={create}>
      <ResourceList
        label={ASSISTANTS.title}
        list={list}
        columns={COLUMNS}
        nameOf={({ name }) => name}
        open={undefined}
        onOpen={(name) =>
          name !== undefined && void navigate({ to: "/assistants/$name", params: { name }, search: {} })
        }
        empty={{ title: ASSISTANTS.empty, text: ASSISTANTS.emptyText, action: create }}
        isFiltered={false}
        onClearFilters={() => {}}
        at={at}
        onAt={(first) => set({ at: first })}
      />
      {isCreating && <CreateAssistant onClose={() => setCreating(false)} />}
    </Page>
  );
}
