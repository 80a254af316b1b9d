import { getRouteApi } from "@tanstack/react-router";
import { EndpointService, EndpointStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { useState } from "react";
import { useWorkspace } from "../../rpc/use-session.ts";
import { ENDPOINTS } from "../../text/en/webhooks/endpoints.ts";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/form/input.tsx";
import { ResourceList } from "../../ui/list/resource-list.tsx";
import { SearchField } from "../../ui/list/search-field.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { useSetSearch } from "../../ui/list/use-set-search.ts";
import { Page } from "../../ui/page/page.tsx";
import { useShortcut } from "../../ui/shortcuts.ts";
import { CreateEndpoint } from "./create-endpoint.tsx";
import { COLUMNS } from "./endpoint-columns.tsx";
import { EndpointPanel } from "./endpoint-panel.tsx";
import { nameOf } from "./endpoint-status.tsx";

const route = getRouteApi("/shell/managed/webhooks");

const STATUSES = {
  active: EndpointStatus.ACTIVE,
  failing: EndpointStatus.FAILING,
  deactivated: EndpointStatus.DEACTIVATED,
} as const;
const STATUS_OPTIONS = [
  ["", ENDPOINTS.anyStatus],
  ["active", ENDPOINTS.active],
  ["failing", ENDPOINTS.failing],
  ["deactivated", ENDPOINTS.deactivated],
] as const;

/** [WMGMT-1] */
export function EndpointsPage() {
  const workspace = useWorkspace();
  const { open, at, search, status, add } = route.useSearch();
  const [isCreating, setCreating] = useState(add !== undefined);
  const set = useSetSearch();
  const list = useList(
    EndpointService.method.listEndpoints,
    { workspace, search: search ?? "", status: status && STATUSES[status] },
    {
      rowsOf: (page) => page.endpoints.map((endpoint, index) => ({ endpoint, health: page.health[index] })),
      keyOf: ({ endpoint }) => String(endpoint.id),
    },
  );
  useShortcut("c", () => setCreating(true));
  const create = (
    <Button kind="primary" onClick={() => setCreating(true)}>
      {ENDPOINTS.create}
    </Button>
  );
  return (
    <Page
      title={ENDPOINTS.title}
      actions={create}
      toolbar={
        <>
          <SearchField
            label={ENDPOINTS.search}
            value={search}
            onValue={(text) => set({ search: text, at: undefined })}
          />
          <Select
            aria-label="Status"
            options={STATUS_OPTIONS}
            value={status ?? ""}
            onValue={(value) => set({ status: value || undefined, at: undefined })}
          />
        </>
      }
      panel={
        open && (
          <EndpointPanel
            key={open}
            endpointId={open}
            onClose={() => set({ open: undefined })}
            onChanged={list.refresh}
          />
        )
      }
    >
      <ResourceList
        label={ENDPOINTS.title}
        list={list}
        columns={COLUMNS}
        nameHeader={ENDPOINTS.url}
        nameOf={({ endpoint }) => nameOf(endpoint)}
        open={open}
        onOpen={(id) => set({ open: id })}
        empty={{ title: ENDPOINTS.empty, text: ENDPOINTS.emptyText, action: create }}
        isFiltered={Boolean(search || status)}
        onClearFilters={() => set({ search: undefined, status: undefined })}
        at={at}
        onAt={(first) => set({ at: first })}
      />
      {isCreating && (
        <CreateEndpoint
          chosen={add}
          onClose={() => {
            setCreating(false);
            set({ add: undefined });
          }}
          onCreated={(id) => {
            list.refresh();
            set({ open: id });
          }}
        />
      )}
    </Page>
  );
}
