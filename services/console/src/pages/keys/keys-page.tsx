import { getRouteApi } from "@tanstack/react-router";
import { type Key, KeyOrder, KeyService, KeyStatus } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { useState } from "react";
import { useWorkspace } from "../../rpc/use-session.ts";
import { hoursOf, KEYS } from "../../text/en/keys.ts";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/form/input.tsx";
import { type Column, ResourceList } from "../../ui/list/resource-list.tsx";
import { SearchField } from "../../ui/list/search-field.tsx";
import { hourlyColumn, useHourlyCounts } from "../../ui/list/use-hourly-counts.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { useSetSearch } from "../../ui/list/use-set-search.ts";
import { Page } from "../../ui/page/page.tsx";
import { useShortcut } from "../../ui/shortcuts.ts";
import { Time } from "../../ui/time.tsx";
import { CreateKey } from "./create-key.tsx";
import { KeyPanel } from "./key-panel.tsx";
import { KeyStatusBadge, KeyTools } from "./key-status.tsx";

const route = getRouteApi("/shell/managed/api-keys");

const STATUSES = { active: KeyStatus.ACTIVE, revoked: KeyStatus.REVOKED, expired: KeyStatus.EXPIRED } as const;
const ORDERS = {
  name: KeyOrder.NAME,
  "last-used": KeyOrder.LAST_USED,
  calls: KeyOrder.CALLS_TOTAL,
  expiry: KeyOrder.EXPIRY,
} as const;
const ORDER_OPTIONS = [
  ["", KEYS.newest],
  ["name", KEYS.byName],
  ["last-used", KEYS.byLastUse],
  ["calls", KEYS.byCalls],
  ["expiry", KEYS.byExpiry],
] as const;
const TOOLS_OPTIONS = [
  ["", KEYS.anyTools],
  ["unavailable", KEYS.withUnavailable],
] as const;
const STATUS_OPTIONS = [
  ["", KEYS.anyStatus],
  ["active", "Active"],
  ["expired", "Expired"],
  ["revoked", "Revoked"],
] as const;

const COLUMNS: readonly Column<Key>[] = [
  { header: "Status", width: "80px", render: (key) => <KeyStatusBadge {...key} /> },
  { header: "Prefix", width: "105px", render: ({ prefix }) => <code>{prefix}…</code> },
  { header: "Tools", width: "minmax(110px, 2fr)", render: (key) => <KeyTools {...key} /> },
  { header: "Limit", width: "70px", align: "end", render: ({ limit }) => `${limit}/min` },
  { header: "Expires", width: "76px", render: ({ expiresAt }) => <Time at={expiresAt} /> },
  { header: "Last used", width: "84px", render: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
  { header: "24 h", width: "52px", align: "end", render: (key) => key.callsLast24h.toLocaleString("en") },
  { header: "Total", width: "60px", align: "end", render: (key) => key.callsTotal.toLocaleString("en") },
];

/** The hours stand before the calls of the whole day. */
const BARS_AT = 6;

/** [MGMT-1] */
export function KeysPage() {
  const workspace = useWorkspace();
  const { open, at, ...filters } = route.useSearch();
  const [isCreating, setCreating] = useState(false);
  const set = useSetSearch();
  const list = useList(
    KeyService.method.listKeys,
    {
      workspace,
      search: filters.search ?? "",
      tool: filters.tool ?? "",
      withUnavailableTools: filters.tools === "unavailable",
      status: filters.status && STATUSES[filters.status],
      order: filters.order && ORDERS[filters.order],
    },
    { rowsOf: (page) => page.keys, keyOf: (key) => key.id, isHeld: open !== undefined },
  );
  const ids = list.rows.map(({ id }) => id);
  const hours = useHourlyCounts(KeyService.method.getHourlyCounts, ids);
  const bars = hourlyColumn<Key>(hours, KEYS.hours, { idOf: ({ id }) => id, labelOf: ({ name }) => hoursOf(name) });
  useShortcut("c", () => setCreating(true));
  const create = (
    <Button kind="primary" onClick={() => setCreating(true)}>
      {KEYS.create}
    </Button>
  );
  return (
    <Page
      title={KEYS.title}
      actions={create}
      toolbar={
        <>
          <SearchField
            label={KEYS.search}
            value={filters.search}
            onValue={(search) => set({ search, at: undefined })}
          />
          <Select
            aria-label="Status"
            options={STATUS_OPTIONS}
            value={filters.status ?? ""}
            onValue={(status) => set({ status: status || undefined, at: undefined })}
          />
          <Select
            aria-label={KEYS.tools}
            options={TOOLS_OPTIONS}
            value={filters.tools ?? ""}
            onValue={(tools) => set({ tools: tools || undefined, at: undefined })}
          />
          <Select
            aria-label="Order"
            options={ORDER_OPTIONS}
            value={filters.order ?? ""}
            onValue={(order) => set({ order: order || undefined, at: undefined })}
          />
        </>
      }
      panel={
        open && <KeyPanel key={open} keyId={open} onClose={() => set({ open: undefined })} onChanged={list.refresh} />
      }
    >
      <ResourceList
        label={KEYS.title}
        list={list}
        columns={[...COLUMNS.slice(0, BARS_AT), bars, ...COLUMNS.slice(BARS_AT)]}
        nameOf={({ name }) => name}
        open={open}
        onOpen={(id) => set({ open: id })}
        empty={{ title: KEYS.empty, text: KEYS.emptyText, action: create }}
        isFiltered={Boolean(filters.search || filters.status || filters.tool || filters.tools)}
        onClearFilters={() => set({ search: undefined, status: undefined, tool: undefined, tools: undefined })}
        at={at}
        onAt={(first) => set({ at: first })}
      />
      {isCreating && (
        <CreateKey
          onClose={() => setCreating(false)}
          onCreated={(id) => {
            list.refresh();
            set({ open: id });
          }}
        />
      )}
    </Page>
  );
}
