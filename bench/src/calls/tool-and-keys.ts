import type { Management } from "@toolgate/local/demo/management";

export const TOOL = "echo";
/** The highest limit that a key can have. */
export const CALLS_PER_MINUTE = 10_000;

const AT_ONCE = 8;
const HANDLER = "export default async (args) => ({ success: true, args });";

/** Returns what is handed in; released for keys, without `webhook_event`. */
export async function saveTrivialTool(manage: Management): Promise<void> {
  const parameters = {
    type: "object",
    properties: { text: { type: "string", maxLength: 100 }, count: { type: "integer", minimum: 1 } },
    required: ["text"],
  };
  const definition = { description: "Returns its arguments", external_api: true, parameters, handler: HANDLER };
  await manage("tool_runner.v1.ToolService/SaveTool", { name: TOOL, definition, confirmExposure: true });
}

/** Makes keys for the tool and returns their secrets. */
export async function addKeys(manage: Management, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `Key ${index + 1}`);
  return inTurns(names, AT_ONCE, async (name) => {
    const key = { name, tools: [TOOL], limit: CALLS_PER_MINUTE };
    return (await manage<{ secret: string }>("key_auth.v1.KeyService/CreateKey", key)).secret;
  });
}

/** Maps with at most `atOnce` under way; the results are in the order of the items. */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  map: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++) {
      results[index] = await map(items[index] as Item, index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
