import { eventually } from "@toolgate/testbed/eventually";
import type { Page } from "playwright-core";
import type { ConsoleRig } from "../console-rig.ts";

/** Endpoints at the receiver, and a tool whose completions they get. */
export async function endpointScene({ toolgate }: ConsoleRig) {
  const handler = "export default () => ({ success: true });";
  await toolgate.saveTool("greet", { external_api: true, webhook_event: true, handler });
  const { secret } = await toolgate.createKey({ name: "Caller", tools: ["greet"], limit: 1_000 });
  const rpc = <Response>(name: string, request: Record<string, unknown>) =>
    toolgate.manage<Response>(`outbound_webhook.v1.EndpointService/${name}`, request);
  return {
    rpc,
    /** Makes tool.completed happen. */
    async complete(times = 1) {
      for (let call = 0; call < times; call += 1) await toolgate.call("greet", secret);
    },
    endpointOf: async (endpointId: string) =>
      (await rpc<{ endpoint: Record<string, unknown> }>("GetEndpoint", { endpointId })).endpoint,
    /** The first request that the receiver gets at a path. */
    requestTo: (path: string) =>
      eventually(() => toolgate.receiver.requests.find((request) => request.path === path) ?? false),
  };
}

export type EndpointScene = Awaited<ReturnType<typeof endpointScene>>;

export const panelOf = (page: Page, path: string) => page.getByRole("complementary", { name: new RegExp(`${path}$`) });
export const rowOf = (page: Page, path: string) => page.getByRole("row", { name: new RegExp(path) });
