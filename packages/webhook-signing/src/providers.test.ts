import { ApiVersion, shopifyApi } from "@shopify/shopify-api";
import "@shopify/shopify-api/adapters/web-api";
import { createHmac } from "node:crypto";
import Stripe from "stripe";
import { expect, test } from "vitest";
import { verifyShop } from "./shop-and-bearer.ts";
import { sign } from "./sign.ts";
import { verify } from "./verify.ts";

const secret = "whsec_test_secret";
const payload = '{"id":"evt_1","object":"event","text":"Grüße"}';
const body = Buffer.from(payload);
const now = Math.floor(Date.now() / 1000);

test("[AUTH-6] [AUTH-7] what the stripe library signs is accepted, and it accepts what is signed here", () => {
  const { webhooks } = new Stripe("sk_test_1");
  const header = webhooks.generateTestHeaderString({ payload, secret, timestamp: now });
  expect(verify({ secret, header, body, now })).toEqual({ ok: true, unixTime: now });
  expect(verify({ secret: `${secret}x`, header, body, now }).ok).toBe(false);
  expect(webhooks.constructEvent(payload, sign(secret, now, body), secret)).toMatchObject({ id: "evt_1" });
});

test("[AUTH-11] [AUTH-12] what the shopify library validates is accepted", async () => {
  const shopify = shopifyApi({
    apiKey: "key",
    apiSecretKey: secret,
    hostName: "shop.example",
    apiVersion: ApiVersion.October25,
    isEmbeddedApp: false,
    logger: { log: () => {} },
  });
  const isValidThere = async (hmac: string) => {
    const headers = {
      "X-Shopify-Hmac-Sha256": hmac,
      "X-Shopify-Topic": "orders/create",
      "X-Shopify-Shop-Domain": "some.myshopify.com",
      "X-Shopify-API-Version": "2025-10",
      "X-Shopify-Webhook-Id": "1",
      "X-Shopify-Event-Id": "1",
    };
    const rawRequest = new Request("https://shop.example/webhooks", { method: "POST", headers, body: payload });
    return (await shopify.webhooks.validate({ rawBody: payload, rawRequest })).valid;
  };
  const good = createHmac("sha256", secret).update(body).digest("base64");
  const bad = createHmac("sha256", "other").update(body).digest("base64");
  expect([await isValidThere(good), verifyShop(secret, good, body)]).toEqual([true, true]);
  expect([await isValidThere(bad), verifyShop(secret, bad, body)]).toEqual([false, false]);
});
