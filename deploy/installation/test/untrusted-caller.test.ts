import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { startOtlpReceiver } from "./otlp-receiver.ts";
import { runToolgate, type TopologyKind } from "./running-toolgate.ts";

test.each<TopologyKind>(["single", "split"])(
  "[LOG-7] [TOOL-43] [ERR-3] a caller that is not a trusted proxy has no header that makes it appear to come from an allowed network, in the %s topology",
  async (kind) => {
    await using toolgate = await runToolgate(kind);
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
  },
);

test("a caller that is not a trusted proxy chooses neither its request id nor its trace nor whether that is recorded", async () => {
  await using collector = await startOtlpReceiver();
  await using toolgate = await runToolgate("single", {
    env: {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      OTEL_BSP_SCHEDULE_DELAY: "100",
      OTEL_TRACES_SAMPLER: "always_on",
    },
  });
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-00`, "x-request-id": "mine" };
  const response = await toolgate.request("/webhooks/event-types", { headers });
  expect(response.headers.get("x-request-id")).not.toBe("mine");
  const span = await eventually(
    () => collector.spans.find(({ name }) => name === "GET /webhooks/event-types") ?? false,
  );
  expect(span.parentId).toBe("");
  expect(span.traceId).not.toBe(traceId);
});
