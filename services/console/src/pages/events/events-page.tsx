import { getRouteApi } from "@tanstack/react-router";
import { EventService, type EventType } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { useWorkspace } from "../../rpc/use-session.ts";
import { EVENTS } from "../../text/en/webhooks/events.ts";
import { type Column, ResourceList } from "../../ui/list/resource-list.tsx";
import { SearchField } from "../../ui/list/search-field.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { useSetSearch } from "../../ui/list/use-set-search.ts";
import { Page } from "../../ui/page/page.tsx";
import { EventPanel } from "./event-panel.tsx";
import { EventSource } from "./event-source.tsx";

const route = getRouteApi("/shell/managed/webhooks/events");

const COLUMNS: readonly Column<EventType>[] = [
  { header: "Status", width: "160px", render: (type) => <EventSource {...type} /> },
  { header: EVENTS.whenSent, width: "minmax(160px, 4fr)", render: ({ description }) => description },
];

/** [EVT-7] The closed catalogue of what endpoints can receive. */
export function EventsPage() {
  const workspace = useWorkspace();
  const { open, at, search = "" } = route.useSearch();
  const set = useSetSearch();
  const part = search.toLowerCase();
  const list = useList(
    EventService.method.listEventTypes,
    { workspace },
    {
      rowsOf: (page) => page.eventTypes,
      keyOf: ({ type }) => type,
      isHeld: open !== undefined,
    },
  );
  const rows = list.rows.filter(({ type, description }) => `${type}\n${description}`.toLowerCase().includes(part));
  const opened = list.rows.find(({ type }) => type === open);
  return (
    <Page
      title={EVENTS.title}
      toolbar={
        <SearchField
          label={EVENTS.search}
          value={search || undefined}
          onValue={(value) => set({ search: value, at: undefined })}
        />
      }
      panel={opened && <EventPanel key={open} of={opened} onClose={() => set({ open: undefined })} />}
    >
      <ResourceList
        label={EVENTS.title}
        list={{ ...list, rows }}
        // The panel says when the open one is sent, and its name needs the room.
        columns={opened ? COLUMNS.slice(0, 1) : COLUMNS}
        nameHeader={EVENTS.type}
        nameOf={({ type }) => <code>{type}</code>}
        open={open}
        onOpen={(type) => set({ open: type })}
        empty={{ title: EVENTS.empty, text: EVENTS.emptyText }}
        isFiltered={search !== ""}
        onClearFilters={() => set({ search: undefined })}
        at={at}
        onAt={(first) => set({ at: first })}
      />
    </Page>
  );
}
