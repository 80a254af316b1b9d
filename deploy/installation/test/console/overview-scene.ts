import { eventually } from "@toolgate/testbed/eventually";
import { chatsOf, saveModel } from "../chat/front-door.ts";
import { callHook, createHook } from "../hooks/hooks.ts";
import type { ConsoleRig } from "./console-rig.ts";

const HANDLER = "export default (args) => { if (args.fail) throw new Error('failed'); return { success: true }; };";
const PARAMETERS = { type: "object", properties: { fail: { type: "boolean" } } };
/** So many refused calls in a row make a hook failing. */
const REFUSED_CALLS = 20;
/** So many failed deliveries in a row deactivate an endpoint. */
const FAILED_DELIVERIES = 5;
const DAY_MS = 86_400_000;

/** A key's name that means something in HTML. */
export const HOSTILE_NAME = '<img src=x onerror="console.error(1)">';

/** A workspace in which everything has happened that the overview tells: five calls, of which one failed. */
export async function troubledWorkspace(rig: ConsoleRig): Promise<void> {
  const { toolgate } = rig;
  const { manage, receiver } = toolgate;
  const released = {
    external_api: true,
    inbound_hook: true,
    webhook_event: true,
    handler: HANDLER,
    parameters: PARAMETERS,
  };
  await toolgate.saveTool("greet", released);
  await toolgate.saveTool("withdrawn", { external_api: true, handler: HANDLER });
  const expiry = { timestamp: new Date(Date.now() + 2.5 * DAY_MS).toISOString() };
  const { secret } = await toolgate.createKey({ name: HOSTILE_NAME, tools: ["greet", "withdrawn"], expiry });
  await toolgate.saveTool("withdrawn", { external_api: false, handler: HANDLER });
  receiver.behave(({ path }) => ({ status: path === "/broken" ? 410 : 200 }));
  const { id: broken } = await toolgate.createEndpoint(["tool.completed"], "/broken");
  await toolgate.createEndpoint(["tool.completed"], "/working");
  await toolgate.call("greet", secret, { fail: true });
  // 410 ends a delivery at once, so the endpoint is deactivated by its fifth.
  for (let call = 0; call < FAILED_DELIVERIES; call += 1) await toolgate.call("greet", secret);
  await eventually(async () => !(await endpointOf(rig, broken)).active);
  const hook = await createHook(toolgate, { name: "Orders", target: { tool: "greet" } });
  for (let call = 0; call < REFUSED_CALLS; call += 1)
    await callHook(toolgate, { ...hook, secret: "whsec_wrong" }, "{}");
  await failingAssistant(rig);
  await eventually(async () => {
    const { hooks, keys } = await overviewOf(rig);
    return hooks?.failing?.length === 1 && (keys?.calls ?? []).includes(FAILED_DELIVERIES + 1);
  });
  await manage("chat.v1.AssistantService/UpdateChatSettings", { tokensPerDay: "1" });
}

/** An assistant answers once with the built-in model, and once its model's server cannot be reached. */
async function failingAssistant({ toolgate }: ConsoleRig): Promise<void> {
  const { manage, receiver } = toolgate;
  const chats = await chatsOf(toolgate);
  const save = (models: string[]) =>
    manage("chat.v1.AssistantService/SaveAssistant", {
      name: "support",
      definition: { instructions: "Help.", models },
    });
  const ask = (chatId: string) =>
    chats.post("/chat/index", { chat_id: chatId, message: "Hello", assistant: "support" });
  await save([]);
  await ask("answered");
  await saveModel(toolgate, "gone", `${receiver.url}/no-model`);
  await save(["gone"]);
  await ask("failed");
}

async function endpointOf({ toolgate }: ConsoleRig, endpointId: string) {
  const { endpoint } = await toolgate.manage<{ endpoint: { active?: boolean } }>(
    "outbound_webhook.v1.EndpointService/GetEndpoint",
    { endpointId },
  );
  return endpoint;
}

interface Overview {
  keys?: { calls?: number[] };
  hooks?: { failing?: unknown[] };
}

function overviewOf({ toolgate }: ConsoleRig): Promise<Overview> {
  return toolgate.manage<Overview>("gateway.v1.OverviewService/GetOverview", {});
}
