import { Code, ConnectError } from "@connectrpc/connect";
import type { Queryable } from "@toolgate/postgres/pool";
import { type EndpointKey, type EndpointRow, findEndpoint } from "../store/endpoint.ts";

const MAX_ID = BigInt(Number.MAX_SAFE_INTEGER);

/** An impossible id gets the same response as one of another workspace. */
export function endpointKey({ workspaceId }: { workspaceId: string }, endpointId: bigint): EndpointKey {
  return { workspaceId, endpointId: idOf(endpointId, noSuchEndpoint) };
}

export function idOf(id: bigint, notFound: () => ConnectError): number {
  if (id < 1n || id > MAX_ID) throw notFound();
  return Number(id);
}

export async function requireEndpoint(db: Queryable, key: EndpointKey): Promise<EndpointRow> {
  const endpoint = await findEndpoint(db, key);
  if (!endpoint) throw noSuchEndpoint();
  return endpoint;
}

export function noSuchEndpoint(): ConnectError {
  return new ConnectError("no such endpoint", Code.NotFound);
}

export function invalidArgument(message: string): ConnectError {
  return new ConnectError(message, Code.InvalidArgument);
}

/** Throws invalid_argument if there is a violation. */
export function refuseIf(violation: string | undefined): void {
  if (violation !== undefined) throw invalidArgument(violation);
}
