import type { Management } from "./management.ts";

/** An incoming hook, and a body that its tool takes. */
export type DemoHook = {
  readonly path: string;
  readonly secret: string;
  readonly tool: string;
  readonly body: Record<string, unknown>;
};

const NAME = "Demo hook";
const TOOL = "add_order";
const BODY = { customer: "Linus", city: "Bern", amount: 64 };

/** Makes the demo's hook, in place of one that an interrupted start has left. */
export async function makeDemoHook(manage: Management): Promise<DemoHook> {
  const rpc = (name: string) => `inbound_hook.v1.HookService/${name}`;
  const { hooks = [] } = await manage<{ hooks?: { id: string; name: string }[] }>(rpc("ListHooks"), {});
  for (const { id, name } of hooks) if (name === NAME) await manage(rpc("DeleteHook"), { hookId: id });
  const { url, secret } = await manage<{ url: string; secret: string }>(rpc("CreateHook"), {
    name: NAME,
    format: "HOOK_FORMAT_NATIVE",
    target: { tool: TOOL },
  });
  // The URL may have no host, or a public one that does not lead here.
  const { pathname } = new URL(url, "http://localhost");
  return { path: pathname, secret, tool: TOOL, body: BODY };
}
