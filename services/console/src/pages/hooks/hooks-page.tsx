import { getRouteApi } from "@tanstack/react-router";
import { type Hook, HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { useState } from "react";
import { useWorkspace } from "../../rpc/use-session.ts";
import { HOOKS } from "../../text/en/webhooks/hooks.ts";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/form/input.tsx";
import { type Column, ResourceList } from "../../ui/list/resource-list.tsx";
import { SearchField } from "../../ui/list/search-field.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { useSetSearch } from "../../ui/list/use-set-search.ts";
import { Page } from "../../ui/page/page.tsx";
import { useShortcut } from "../../ui/shortcuts.ts";
import { Time } from "../../ui/time.tsx";
import { CreateHook } from "./create-hook.tsx";
import { HookPanel } from "./hook-panel.tsx";
import { HookStatus, stateOf, targetText } from "./hook-status.tsx";
import { formatOf } from "./providers.ts";

const route = getRouteApi("/shell/managed/webhooks/hooks");

const STATUS_OPTIONS = [
  ["", HOOKS.anyStatus],
  ["active", "Active"],
  ["waiting", "Waiting for the first call"],
  ["failing", "Failing"],
  ["off", "Off"],
] as const;

const COLUMNS: readonly Column<Hook>[] = [
  { header: "Status", width: "230px", render: (hook) => <HookStatus of={hook} /> },
  { header: "Runs", width: "minmax(110px, 1.5fr)", render: ({ target }) => targetText(target) },
  { header: "Called by", width: "minmax(100px, 1fr)", render: formatOf },
  { header: "Last received", width: "100px", render: ({ lastReceivedAt }) => <Time at={lastReceivedAt} /> },
  {
    header: "URL",
    width: "130px",
    render: ({ shownUrl }) => <code title={shownUrl}>{shownUrl.split("/").at(-1)}</code>,
  },
];

const HOOK_ID = /^[0-9]{1,16}$/;

function matches(hook: Hook, search = "", status?: string): boolean {
  const texts = [hook.name, targetText(hook.target), hook.shownUrl, formatOf(hook)];
  const isFound = texts.some((text) => text.toLowerCase().includes(search.toLowerCase()));
  return isFound && (status === undefined || stateOf(hook).state === status);
}

/** [WMGMT-1] */
export function HooksPage() {
  const workspace = useWorkspace();
  const { open, at, search, status } = route.useSearch();
  const [isCreating, setCreating] = useState(false);
  const set = useSetSearch();
  const list = useList(
    HookService.method.listHooks,
    { workspace },
    { rowsOf: ({ hooks }) => hooks, keyOf: ({ id }) => String(id) },
  );
  const rows = list.rows.filter((hook) => matches(hook, search, status));
  useShortcut("c", () => setCreating(true));
  const create = (
    <Button kind="primary" onClick={() => setCreating(true)}>
      {HOOKS.create}
    </Button>
  );
  return (
    <Page
      title={HOOKS.title}
      actions={create}
      toolbar={
        <>
          <SearchField label={HOOKS.search} value={search} onValue={(value) => set({ search: value, at: undefined })} />
          <Select
            aria-label="Status"
            options={STATUS_OPTIONS}
            value={status ?? ""}
            onValue={(value) => set({ status: value || undefined, at: undefined })}
          />
        </>
      }
      panel={
        open &&
        HOOK_ID.test(open) && (
          <HookPanel
            key={open}
            hookId={BigInt(open)}
            onClose={() => set({ open: undefined })}
            onChanged={list.refresh}
          />
        )
      }
    >
      <ResourceList
        label={HOOKS.title}
        list={{ ...list, rows }}
        columns={COLUMNS}
        nameOf={({ name }) => name}
        open={open}
        onOpen={(id) => set({ open: id })}
        empty={{ title: HOOKS.empty, text: HOOKS.emptyText, action: create }}
        isFiltered={Boolean(search || status)}
        onClearFilters={() => set({ search: undefined, status: undefined })}
        at={at}
        onAt={(first) => set({ at: first })}
      />
      {isCreating && (
        <CreateHook
          onClose={() => setCreating(false)}
          onCreated={(id) => {
            list.refresh();
            set({ open: String(id) });
          }}
        />
      )}
    </Page>
  );
}
