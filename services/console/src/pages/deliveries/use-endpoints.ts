import { useQuery } from "@connectrpc/connect-query";
import { type Endpoint, EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { EventService } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { useWorkspace } from "../../rpc/use-session.ts";

const FRESH_MS = 30_000;

export interface Endpoints {
  all: readonly Endpoint[];
  /** The URL of an endpoint, or how to call one that is deleted. */
  urlOf: (id: bigint) => string;
}

/** The endpoints of the workspace, which the log knows only by number. */
export function useEndpoints(): Endpoints {
  const workspace = useWorkspace();
  const { data } = useQuery(EndpointService.method.listEndpoints, { workspace }, { staleTime: FRESH_MS });
  const all = data?.endpoints ?? [];
  const urls = new Map(all.map(({ id, url }) => [id, url]));
  return { all, urlOf: (id) => urls.get(id) ?? (data ? `Endpoint ${id} (deleted)` : "…") };
}

/** The endpoints as the choices of a list; one that is chosen already stays a choice after it was deleted. */
export function endpointOptions({ all, urlOf }: Endpoints, first: string, chosen?: string) {
  const ids = all.map(({ id }) => String(id));
  if (chosen && !ids.includes(chosen)) ids.push(chosen);
  return [["", first] as const, ...ids.map((id) => [id, urlOf(BigInt(id))] as const)];
}

/** Names of the catalogue, to complete what the user types; read once they are wanted. */
export function useEventTypes(isWanted: boolean): readonly string[] {
  const workspace = useWorkspace();
  const options = { staleTime: FRESH_MS, enabled: isWanted };
  const { data } = useQuery(EventService.method.listEventTypes, { workspace }, options);
  return data?.eventTypes.map(({ type }) => type) ?? [];
}
