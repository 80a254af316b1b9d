import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

const WITH_ESCAPE = "a\u001b[2J";

let toolgate: RunningToolgate;
beforeAll(async () => {
  toolgate = await runToolgate("single");
});
afterAll(() => toolgate[Symbol.asyncDispose]());

test.each<[path: string, members: Record<string, unknown>]>([
  ["key_auth.v1.KeyService/CreateKey", { name: WITH_ESCAPE }],
  ["inbound_hook.v1.HookService/CreateHook", { name: WITH_ESCAPE, format: "HOOK_FORMAT_NATIVE" }],
  [
    "outbound_webhook.v1.EndpointService/CreateEndpoint",
    { url: "https://a.example/", events: ["custom.*"], description: WITH_ESCAPE },
  ],
])("a name or description with control characters is refused: %s", async (path, members) => {
  await expect(toolgate.manage(path, members)).rejects.toThrow(/400.*must not contain control characters/);
});

test("ids of endpoints reveal neither how many there are nor which comes next", async () => {
  const ids: number[] = [];
  for (const path of ["/a", "/b", "/c"]) ids.push(Number((await toolgate.createEndpoint(["custom.*"], path)).id));
  const gaps = ids.slice(1).map((id, index) => Math.abs(id - (ids[index] ?? 0)));
  // Of random numbers of 53 bits, one in a million million is that small or that close to another.
  for (const number of [...ids, ...gaps]) expect(number).toBeGreaterThan(1_000);
});
