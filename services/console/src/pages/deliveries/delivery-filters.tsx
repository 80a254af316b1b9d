import type { InferOutput } from "valibot";
import type { Search } from "../../routes/deliveries.ts";
import { DELIVERIES } from "../../text/en/webhooks/deliveries.ts";
import { Select } from "../../ui/form/input.tsx";
import { SearchField } from "../../ui/list/search-field.tsx";
import { TimeRange } from "../../ui/list/time-range.tsx";
import { KIND_WORDS, STATUS_WORDS } from "./delivery-status.tsx";
import { EndpointFilter } from "./endpoint-filter.tsx";
import { TypeField } from "./type-field.tsx";
import type { Endpoints } from "./use-endpoints.ts";

export type DeliveryFilter = Omit<InferOutput<typeof Search>, "open" | "at">;

const STATUS_OPTIONS = [["", DELIVERIES.anyStatus] as const, ...Object.entries(STATUS_WORDS)];
const KIND_OPTIONS = [["", DELIVERIES.anyKind] as const, ...Object.entries(KIND_WORDS)];
const EVENT_ID = /^evt_/;

interface DeliveryFiltersProps {
  filter: DeliveryFilter;
  endpoints: Endpoints;
  onFilter: (change: object) => void;
}

export function DeliveryFilters({ filter, endpoints, onFilter }: DeliveryFiltersProps) {
  return (
    <>
      <SearchField
        label={DELIVERIES.search}
        value={filter.event ?? filter.request}
        onValue={(id) =>
          onFilter(id && EVENT_ID.test(id) ? { event: id, request: undefined } : { event: undefined, request: id })
        }
      />
      <EndpointFilter endpoints={endpoints} value={filter.endpoint} onValue={(endpoint) => onFilter({ endpoint })} />
      <Select
        aria-label="Status"
        options={STATUS_OPTIONS}
        value={filter.status ?? ""}
        onValue={(status) => onFilter({ status: status || undefined })}
      />
      <Select
        aria-label="Kind"
        options={KIND_OPTIONS}
        value={filter.kind ?? ""}
        onValue={(kind) => onFilter({ kind: kind || undefined })}
      />
      <TypeField label={DELIVERIES.eventType} value={filter.type} onValue={(type) => onFilter({ type })} />
      <TimeRange from={filter.from} to={filter.to} onRange={onFilter} />
    </>
  );
}
