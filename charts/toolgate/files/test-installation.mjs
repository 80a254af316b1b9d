// What helm test runs in a pod: asks the gateway at GATEWAY_URL, and with API_KEY calls TOOL with ARGUMENTS. With EMAIL
// and PASSWORD of a Manager of WORKSPACE it makes a key for that itself and revokes it at the end; with WEBHOOK=true it
// waits until the call's webhook is delivered.
const { GATEWAY_URL = "", API_KEY, EMAIL, PASSWORD, WORKSPACE, WEBHOOK, TOOL = "", ARGUMENTS = "{}" } = process.env;
const WEBHOOK_DEADLINE_MS = 60_000;

async function expectStatus(what, status, path, init = {}) {
  const response = await fetch(new URL(path, GATEWAY_URL), { ...init, signal: AbortSignal.timeout(30_000) });
  const body = await response.text();
  if (response.status !== status) throw new Error(`${what}: ${response.status} instead of ${status}: ${body}`);
  return { headers: response.headers, body };
}

async function check(what, status, path, init) {
  const response = await expectStatus(what, status, path, init);
  console.log(`passed: ${what}`);
  return response;
}

const post = (authorization, message) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...(authorization && { authorization: `Bearer ${authorization}` }) },
  body: JSON.stringify(message),
});
const call = (key) => post(key, { args: JSON.parse(ARGUMENTS) });
const path = `/api/v1/tools/${encodeURIComponent(TOOL || "none")}`;

async function manage(token, method, message) {
  const { body } = await expectStatus(method, 200, `/toolgate.${method}`, post(token, message));
  return JSON.parse(body);
}

async function deliveryOf(token, requestId) {
  const end = Date.now() + WEBHOOK_DEADLINE_MS;
  for (;;) {
    const filter = { workspace: WORKSPACE, requestId };
    const { deliveries = [] } = await manage(token, "outbound_webhook.v1.DeliveryService/ListDeliveries", filter);
    if (deliveries.some(({ status }) => status === "DELIVERY_STATUS_DELIVERED")) return;
    if (Date.now() > end) throw new Error(`the webhook was not delivered in time: ${JSON.stringify(deliveries)}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function withOwnKey() {
  const { token } = await manage("", "key_auth.v1.SessionService/Login", { email: EMAIL, password: PASSWORD });
  const wanted = { workspace: WORKSPACE, name: "helm test", tools: [TOOL] };
  const { key, secret } = await manage(token, "key_auth.v1.KeyService/CreateKey", wanted);
  console.log("passed: a key is created");
  try {
    const { headers } = await check(`a call of the tool ${TOOL} with it succeeds`, 200, path, call(secret));
    if (WEBHOOK === "true") {
      await deliveryOf(token, headers.get("x-request-id"));
      console.log("passed: its webhook is delivered");
    }
  } finally {
    await manage(token, "key_auth.v1.KeyService/RevokeKey", { workspace: WORKSPACE, keyId: key.id });
  }
  await check("the key is refused once it is revoked", 401, path, call(secret));
}

await check("the gateway and outbound-webhook answer", 200, "/webhooks/event-types");
await check("a call without a valid key is refused", 401, path, call("none"));
if (API_KEY) await check(`a call of the tool ${TOOL} succeeds`, 200, path, call(API_KEY));
if (EMAIL) await withOwnKey();
