import { expect, test } from "vitest";
import { runToolgate } from "./running-toolgate.ts";

test("[LOG-7] [TOOL-43] [ERR-3] a caller that is not a trusted proxy has no header that makes it appear to come from an allowed network", async () => {
  await using toolgate = await runToolgate("split");
  await toolgate.saveTool("echo", {
    external_api: true,
    handler: "export default async ({ _api_key }) => ({ success: true, ip: _api_key.ip });",
  });
  const forged = {
    "x-forwarded-for": "203.0.113.9",
    forwarded: "for=203.0.113.9",
    "x-real-ip": "203.0.113.9",
    "toolgate-client-address": "203.0.113.9",
  };
  const elsewhere = { name: "k", tools: ["echo"], allowedNetworks: ["203.0.113.0/24", "2001:db8::/32"] };
  const here = { ...elsewhere, allowedNetworks: ["127.0.0.0/8"] };
  for (const [key, status] of [
    [elsewhere, 401],
    [here, 200],
  ] as const) {
    const { secret } = await toolgate.createKey(key);
    const headers = { authorization: `Bearer ${secret}`, ...forged };
    const call = await toolgate.request("/api/v1/tools/echo", { method: "POST", headers });
    expect(call.status).toBe(status);
    if (status === 200) expect(call.body.ip).toBe("127.0.0.0");
    expect((await toolgate.request("/api/v1/openapi.json", { headers })).status).toBe(status);
  }
});
