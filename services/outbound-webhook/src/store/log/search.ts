import { type FoundRows, type LogSearch, searchLog } from "@toolgate/postgres/log-search";
import type { Pool } from "@toolgate/postgres/pool";
import type { DeliveryFilter } from "../../domain/delivery-filter.ts";
import { scansFor } from "./scans.ts";

/** The newest deliveries that match the filter; see `searchLog`. */
export function searchDeliveries(
  pool: Pool,
  filter: DeliveryFilter,
  search: Omit<LogSearch, "from" | "to">,
): Promise<FoundRows> {
  const { from, to } = filter;
  return searchLog(pool, (db) => scansFor(db, filter), { ...search, ...(from && { from }), ...(to && { to }) });
}
