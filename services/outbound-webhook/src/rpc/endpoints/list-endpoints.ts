import { type EndpointService, EndpointStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { type EndpointRow, type EndpointStatusName, listEndpoints as listRows } from "../../store/endpoint.ts";
import { readHealth } from "../../store/log/health.ts";
import { invalidArgument } from "../request-fields.ts";
import { MAX_WAITING_COUNTED, toEndpoint, toHealth } from "./endpoint-message.ts";

const STATUS_NAMES: Partial<Record<EndpointStatus, EndpointStatusName>> = {
  [EndpointStatus.ACTIVE]: "active",
  [EndpointStatus.FAILING]: "failing",
  [EndpointStatus.DEACTIVATED]: "deactivated",
};

export const listEndpoints: Handler<Context, typeof EndpointService.method.listEndpoints> = async (
  { pool, now },
  { search, status },
  call,
) => {
  const { workspaceId } = principalOf(call);
  const statusName = STATUS_NAMES[status];
  if (status !== EndpointStatus.UNSPECIFIED && !statusName) throw invalidArgument("status: not a known status");
  const rows = await listRows(pool, workspaceId, { search, status: statusName });
  const health = await readHealth(pool, workspaceId, idsOf(rows), MAX_WAITING_COUNTED);
  const at = now();
  // One that was deleted in between is not shown.
  const shown = rows.flatMap((row) => {
    const found = health.get(row.id);
    return found ? [{ endpoint: toEndpoint(row), health: toHealth(found, at) }] : [];
  });
  return { endpoints: shown.map((row) => row.endpoint), health: shown.map((row) => row.health) };
};

const idsOf = (rows: readonly EndpointRow[]) => rows.map(({ id }) => id);
