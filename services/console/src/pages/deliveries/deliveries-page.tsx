import { getRouteApi } from "@tanstack/react-router";
import { DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { useMemo } from "react";
import { useWorkspace } from "../../rpc/use-session.ts";
import { DELIVERIES } from "../../text/en/webhooks/deliveries.ts";
import { ResourceList } from "../../ui/list/resource-list.tsx";
import { timestampOf } from "../../ui/list/time-range.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { useSetSearch } from "../../ui/list/use-set-search.ts";
import { Page } from "../../ui/page/page.tsx";
import { columnsOf, DeliveryName } from "./delivery-columns.tsx";
import { type DeliveryFilter, DeliveryFilters } from "./delivery-filters.tsx";
import { DeliveryPanel } from "./delivery-panel.tsx";
import { KIND_OF, STATUS_OF } from "./delivery-status.tsx";
import { useEndpoints } from "./use-endpoints.ts";

const route = getRouteApi("/shell/managed/webhooks/deliveries");

/** [OUT-11] [OUT-12] */
export function DeliveriesPage() {
  const workspace = useWorkspace();
  const { open, at, ...filter } = route.useSearch();
  const set = useSetSearch();
  const endpoints = useEndpoints();
  const isOpen = open !== undefined;
  const columns = useMemo(() => columnsOf(endpoints, isOpen), [endpoints.all, isOpen]);
  const list = useList(
    DeliveryService.method.listDeliveries,
    { workspace, ...requestOf(filter) },
    { rowsOf: (page) => page.deliveries, keyOf: (delivery) => delivery.id, isHeld: isOpen },
  );
  return (
    <Page
      title={DELIVERIES.title}
      toolbar={
        <DeliveryFilters
          filter={filter}
          endpoints={endpoints}
          onFilter={(change) => set({ ...change, at: undefined })}
        />
      }
      panel={
        open && (
          <DeliveryPanel
            key={open}
            deliveryId={open}
            row={list.rows.find(({ id }) => id === open)}
            endpoints={endpoints}
            onClose={() => set({ open: undefined })}
            onOpen={(id) => set({ open: id })}
            onChanged={list.refresh}
          />
        )
      }
    >
      <ResourceList
        label={DELIVERIES.title}
        list={list}
        columns={columns}
        nameHeader="Event"
        nameOf={DeliveryName}
        open={open}
        onOpen={(id) => set({ open: id })}
        empty={{ title: DELIVERIES.empty, text: DELIVERIES.emptyText }}
        isFiltered={Object.keys(NO_FILTER).some((name) => filter[name as keyof DeliveryFilter] !== undefined)}
        onClearFilters={() => set({ ...NO_FILTER, at: undefined })}
        at={at}
        onAt={(first) => set({ at: first })}
      />
    </Page>
  );
}

const NO_FILTER: Record<keyof DeliveryFilter, undefined> = {
  endpoint: undefined,
  status: undefined,
  type: undefined,
  kind: undefined,
  event: undefined,
  request: undefined,
  from: undefined,
  to: undefined,
};

function requestOf({ endpoint, status, type, kind, event, request, from, to }: DeliveryFilter) {
  return {
    endpointId: BigInt(endpoint ?? 0),
    statuses: status ? [STATUS_OF[status]] : [],
    kind: kind && KIND_OF[kind],
    eventType: type ?? "",
    eventId: event ?? "",
    requestId: request ?? "",
    createdFrom: timestampOf(from),
    createdTo: timestampOf(to),
  };
}
