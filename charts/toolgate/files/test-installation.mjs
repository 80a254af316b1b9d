// What helm test runs in a pod: asks the gateway at GATEWAY_URL, and with API_KEY calls TOOL with ARGUMENTS.
const { GATEWAY_URL = "", API_KEY, TOOL = "", ARGUMENTS = "{}" } = process.env;

async function expectStatus(what, status, path, init = {}) {
  const response = await fetch(new URL(path, GATEWAY_URL), { ...init, signal: AbortSignal.timeout(30_000) });
  const body = await response.text();
  if (response.status !== status) throw new Error(`${what}: ${response.status} instead of ${status}: ${body}`);
  console.log(`passed: ${what}`);
}

const call = (key) => ({
  method: "POST",
  headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  body: JSON.stringify({ args: JSON.parse(ARGUMENTS) }),
});
const path = `/api/v1/tools/${encodeURIComponent(TOOL || "none")}`;

await expectStatus("the gateway and outbound-webhook answer", 200, "/webhooks/event-types");
await expectStatus("a call without a valid key is refused", 401, path, call("none"));
if (API_KEY) await expectStatus(`a call of the tool ${TOOL} succeeds`, 200, path, call(API_KEY));
