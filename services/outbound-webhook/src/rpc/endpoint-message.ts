import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Endpoint, EndpointSchema } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import type { EndpointKey, EndpointRow } from "../store/endpoint.ts";

export function toEndpoint(row: EndpointRow): Endpoint {
  const { id, url, events, description, active, failuresInARow, createdAt, deactivatedAt } = row;
  return create(EndpointSchema, {
    id: BigInt(id),
    url,
    events,
    description,
    active,
    failuresInARow,
    createdAt: timestampFromDate(createdAt),
    ...(deactivatedAt && { deactivatedAt: timestampFromDate(deactivatedAt) }),
  });
}

/** An id that can't be one leads to the same answer as one of another workspace. */
export function endpointKey(principal: { workspaceId: string }, endpointId: bigint): EndpointKey {
  if (endpointId < 1n || endpointId > BigInt(Number.MAX_SAFE_INTEGER)) throw noSuchEndpoint();
  return { workspaceId: principal.workspaceId, endpointId: Number(endpointId) };
}

export function noSuchEndpoint(): ConnectError {
  return new ConnectError("no such endpoint", Code.NotFound);
}

/** Fails with invalid_argument when there is a fault. */
export function refuseFault(fault: string | undefined): void {
  if (fault !== undefined) throw new ConnectError(fault, Code.InvalidArgument);
}
