import type { Management } from "./management.ts";

/** A message that the demo's default assistant answers with the help of a tool. */
export type DemoChat = { readonly assistant: string; readonly message: string };

const NAME = "assistant";
const MESSAGE = "city report for Bern";
const DEFINITION = {
  instructions: "You help the staff of a small shop with its orders. Be brief.",
  greeting: "Hello! Ask me about the orders of a city.",
  suggestions: [MESSAGE, "exchange rate of EUR", "greet Ada"],
  tools: ["greet", "find_orders", "city_report", "exchange_rate", "add_order"],
};

/** Saves the demo's assistant, which has the built-in model, unless the workspace already has one. */
export async function makeDemoChat(manage: Management): Promise<DemoChat> {
  const rpc = (name: string) => `chat.v1.AssistantService/${name}`;
  const { assistants = [] } = await manage<{ assistants?: { name: string; version?: number; isDefault?: boolean }[] }>(
    rpc("ListAssistants"),
    {},
  );
  const saved = assistants.find(({ version = 0, isDefault }) => version > 0 && isDefault);
  if (!saved) await manage(rpc("SaveAssistant"), { name: NAME, definition: DEFINITION });
  return { assistant: saved?.name ?? NAME, message: MESSAGE };
}
