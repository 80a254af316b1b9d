import { useQuery } from "@connectrpc/connect-query";
import { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useWorkspace } from "../../rpc/use-session.ts";
import type { Found } from "./found.ts";
import { containing, UUID } from "./found.ts";

const MAX_OF_A_KIND = 5;
const TOOLS_READ = 100;
const FRESH_MS = 30_000;

/** Tools by a part of their name. */
export function useTools(text: string): Found[] {
  const workspace = useWorkspace();
  const { data } = useQuery(
    ToolService.method.listTools,
    { workspace, search: text, summary: true, pageSize: TOOLS_READ },
    { enabled: text !== "", staleTime: FRESH_MS },
  );
  // The search also finds descriptions.
  return (data?.tools ?? [])
    .filter(({ name }) => containing(name, text))
    .slice(0, MAX_OF_A_KIND)
    .map(({ name }) => ({ kind: "tool", id: name, label: name, to: "/tools/$name", params: { name } }));
}

/** Keys by a part of their name or prefix, or by id. */
export function useKeys(text: string): Found[] {
  const workspace = useWorkspace();
  const listed = useQuery(
    KeyService.method.listKeys,
    { workspace, search: text, pageSize: MAX_OF_A_KIND },
    { enabled: text !== "" },
  );
  const exact = useQuery(
    KeyService.method.getKey,
    { workspace, keyId: text },
    { enabled: UUID.test(text), retry: false },
  );
  const keys = [exact.data?.key ?? [], listed.data?.keys ?? []].flat();
  return keys.map(({ id, name, prefix }) => ({
    kind: "key",
    id,
    label: name,
    detail: `${prefix}…`,
    to: "/api-keys",
    search: { open: id },
  }));
}

/** Endpoints by a part of their URL or description, or by id. */
export function useEndpoints(text: string): Found[] {
  const workspace = useWorkspace();
  const { data } = useQuery(
    EndpointService.method.listEndpoints,
    { workspace },
    { enabled: text !== "", staleTime: FRESH_MS },
  );
  return (data?.endpoints ?? [])
    .filter(({ id, url, description }) => String(id) === text || containing(url, text) || containing(description, text))
    .slice(0, MAX_OF_A_KIND)
    .map(({ id, url, description }) => ({
      kind: "endpoint",
      id: String(id),
      label: url,
      detail: description,
      to: "/webhooks",
      search: { open: String(id) },
    }));
}

/** Hooks by a part of their name, or by id. */
export function useHooks(text: string): Found[] {
  const workspace = useWorkspace();
  const { data } = useQuery(HookService.method.listHooks, { workspace }, { enabled: text !== "", staleTime: FRESH_MS });
  return (data?.hooks ?? [])
    .filter(({ id, name }) => String(id) === text || containing(name, text))
    .slice(0, MAX_OF_A_KIND)
    .map(({ id, name }) => ({
      kind: "hook",
      id: String(id),
      label: name,
      to: "/webhooks/hooks",
      search: { open: String(id) },
    }));
}
