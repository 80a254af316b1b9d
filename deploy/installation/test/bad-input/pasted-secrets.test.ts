import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

let toolgate: RunningToolgate;
beforeAll(async () => {
  toolgate = await runToolgate("single");
});
afterAll(() => toolgate[Symbol.asyncDispose]());

const SHOP = { name: "Shop", format: "HOOK_FORMAT_SHOP", target: { tool: "any" } };
const MODEL = { name: "m", provider: "MODEL_PROVIDER_ANTHROPIC", baseUrl: "https://127.0.0.1", model: "m" };

/** Every field for a secret that somebody else has made, and a request with such a secret. */
const FIELDS: readonly [field: string, rpc: string, request: (secret: string) => object][] = [
  ["provider_secret", "inbound_hook.v1.HookService/CreateHook", (providerSecret) => ({ ...SHOP, providerSecret })],
  ["value", "tool_runner.v1.DataSourceService/SaveSecret", (value) => ({ name: "S", value, hosts: ["a.example"] })],
  ["api_key", "chat.v1.ModelService/SaveModel", (apiKey) => ({ ...MODEL, apiKey })],
  [
    "headers: x-api-key",
    "outbound_webhook.v1.EndpointService/CreateEndpoint",
    (value) => ({ url: "https://a.example", events: ["custom.*"], headers: { values: { "X-Api-Key": value } } }),
  ],
];

test.each(FIELDS)(
  "[MGMT] a secret in %s that was pasted wrongly is refused with the reason",
  async (field, rpc, request) => {
    const save = (secret: string) => toolgate.manage(rpc, { ...request(secret) });
    await expect(save('"a-secret-of-theirs"')).rejects.toThrow(`${field}: is in quotes: leave them out`);
    await expect(save("a-secret\nof-theirs")).rejects.toThrow(`${field}: contains a line break`);
    await expect(save("a-secret\u200bof-theirs")).rejects.toThrow(`${field}: contains an invisible character`);
  },
);
