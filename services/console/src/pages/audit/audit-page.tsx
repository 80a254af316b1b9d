import { getRouteApi } from "@tanstack/react-router";
import { type AuditEntry, AuditService } from "@toolgate/gen/toolgate/key_auth/v1/audit_pb";
import { useRole, useWorkspace } from "../../rpc/use-session.ts";
import { ACTIONS, AUDIT, whatHappened } from "../../text/en/audit.ts";
import { Input, Select } from "../../ui/form/input.tsx";
import { type Column, ResourceList } from "../../ui/list/resource-list.tsx";
import { SearchField } from "../../ui/list/search-field.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { useSetSearch } from "../../ui/list/use-set-search.ts";
import { Page } from "../../ui/page/page.tsx";
import { Time } from "../../ui/time.tsx";
import { AuditPanel, actorOf } from "./audit-panel.tsx";

const route = getRouteApi("/shell/managed/audit");

const ACTION_OPTIONS = [["", AUDIT.anyAction] as const, ...Object.entries(ACTIONS)];
const CHANGES_SHOWN = 3;

const COLUMNS: readonly Column<AuditEntry>[] = [
  { header: "Who", width: "minmax(120px, 0.8fr)", render: (entry) => actorOf(entry) },
  { header: "Changed", width: "minmax(80px, 0.7fr)", render: (entry) => fieldsOf(entry) },
  { header: "When", width: "90px", render: ({ at }) => <Time at={at} /> },
];

function fieldsOf({ changes }: AuditEntry): string {
  const names = changes.map(({ field }) => field);
  return names.length <= CHANGES_SHOWN
    ? names.join(", ")
    : `${names.slice(0, CHANGES_SHOWN).join(", ")} and ${names.length - CHANGES_SHOWN} more`;
}

/** Who changed what; for admins only. */
export function AuditPage() {
  if (useRole() === "admin") return <AuditLog />;
  return (
    <Page title={AUDIT.title}>
      <p>{AUDIT.noAccess}</p>
    </Page>
  );
}

function AuditLog() {
  const workspace = useWorkspace();
  const { open, at, action, target, actor } = route.useSearch();
  const set = useSetSearch();
  const filter = (change: object) => set({ ...change, at: undefined });
  const list = useList(
    AuditService.method.listAuditEntries,
    { workspace, action: action ?? "", targetId: target ?? "", actor: actor ?? "" },
    { rowsOf: (page) => page.entries, keyOf: (entry) => entry.id, isHeld: open !== undefined },
  );
  const entry = list.rows.find(({ id }) => id === open);
  return (
    <Page
      title={AUDIT.title}
      toolbar={
        <>
          <SearchField label={AUDIT.search} value={target} onValue={(value) => filter({ target: value })} />
          <Select
            aria-label={AUDIT.action}
            options={ACTION_OPTIONS}
            value={action ?? ""}
            onValue={(value) => filter({ action: value || undefined })}
          />
          {/* Empty again when the filters are cleared. */}
          <Input
            key={actor}
            type="search"
            aria-label={AUDIT.whoFilter}
            placeholder={AUDIT.whoFilter}
            defaultValue={actor}
            onBlur={({ target: { value } }) => filter({ actor: value.trim() || undefined })}
            onKeyDown={({ key, currentTarget }) => key === "Enter" && currentTarget.blur()}
          />
        </>
      }
      panel={entry && <AuditPanel key={entry.id} entry={entry} onClose={() => set({ open: undefined })} />}
    >
      <ResourceList
        label={AUDIT.title}
        nameHeader={AUDIT.action}
        list={list}
        columns={COLUMNS}
        nameOf={whatHappened}
        open={open}
        onOpen={(id) => set({ open: id })}
        empty={{ title: AUDIT.empty, text: AUDIT.emptyText }}
        isFiltered={Boolean(action || target || actor)}
        onClearFilters={() => filter({ action: undefined, target: undefined, actor: undefined })}
        at={at}
        onAt={(first) => set({ at: first })}
      />
    </Page>
  );
}
