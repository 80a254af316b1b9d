import { sign as signLikeGithub } from "@octokit/webhooks-methods";
import { ApiVersion, shopifyApi } from "@shopify/shopify-api";
import "@shopify/shopify-api/adapters/web-api";
import { createHmac, randomUUID } from "node:crypto";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";
import { createHook, ECHO, post, resultOf, type TestHook } from "./hooks.ts";

type Sender = {
  readonly name: string;
  readonly hook: Record<string, unknown>;
  /** What the sender's library, with its secret, makes of a body: all headers of the request. */
  readonly headersFor: (body: string, secret: string) => Promise<Record<string, string>>;
};

const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const JSON_TYPE = { "content-type": "application/json" };

const shopify = shopifyApi({
  apiKey: "key",
  apiSecretKey: SECRET,
  hostName: "shop.example",
  apiVersion: ApiVersion.October25,
  isEmbeddedApp: false,
  logger: { log: () => {} },
});

const SENDERS: readonly Sender[] = [
  {
    name: "[AUTH-6] [AUTH-7] the stripe library",
    hook: { format: "HOOK_FORMAT_PROCESSOR", preset: "HOOK_PRESET_STRIPE", providerSecret: SECRET },
    headersFor: async (payload, secret) => ({
      "content-type": "application/json; charset=utf-8",
      "stripe-signature": new Stripe("sk_test_1").webhooks.generateTestHeaderString({ payload, secret }),
    }),
  },
  {
    name: "[AUTH] the octokit library, whose secret was pasted with what is around it,",
    hook: { format: "HOOK_FORMAT_GITHUB", providerSecret: `\ufeff ${SECRET}\u00a0\r\n` },
    headersFor: async (payload, secret) => ({
      ...JSON_TYPE,
      "user-agent": "GitHub-Hookshot/044aadd",
      "x-github-event": "push",
      "x-github-delivery": randomUUID(),
      "x-hub-signature-256": await signLikeGithub(secret, payload),
    }),
  },
  {
    name: "[AUTH-11] [AUTH-12] the shopify library, which validates the same request,",
    hook: { format: "HOOK_FORMAT_SHOP", preset: "HOOK_PRESET_SHOPIFY", providerSecret: SECRET },
    async headersFor(rawBody, secret) {
      const headers = {
        ...JSON_TYPE,
        "x-shopify-hmac-sha256": createHmac("sha256", secret).update(rawBody).digest("base64"),
        "x-shopify-topic": "orders/create",
        "x-shopify-shop-domain": "some.myshopify.com",
        "x-shopify-api-version": "2025-10",
        "x-shopify-webhook-id": randomUUID(),
        "x-shopify-event-id": randomUUID(),
      };
      const rawRequest = new Request("https://shop.example/webhooks", { method: "POST", headers, body: rawBody });
      const { valid } = await shopify.webhooks.validate({ rawBody, rawRequest });
      if (valid !== (secret === SECRET)) throw new Error(`the library says ${valid}`);
      return headers;
    },
  },
  ...["webhook", "svix"].map((prefix) => ({
    name: `[AUTH] the standardwebhooks library, in headers ${prefix}-…,`,
    hook: { format: "HOOK_FORMAT_STANDARD_WEBHOOKS" },
    async headersFor(body: string, secret: string) {
      const id = `msg_${randomUUID()}`;
      const at = new Date();
      return {
        ...JSON_TYPE,
        [`${prefix}-id`]: id,
        [`${prefix}-timestamp`]: String(Math.floor(at.getTime() / 1000)),
        [`${prefix}-signature`]: new Webhook(secret).sign(id, at, body),
      };
    },
  })),
];

describe.each(SENDERS)("what $name signs", ({ hook: request, headersFor }) => {
  let toolgate: RunningToolgate;
  let hook: TestHook;
  let secret: string;
  beforeAll(async () => {
    toolgate = await running();
    hook = await createHook(toolgate, { name: "From a provider", ...request });
    secret = hook.secret || SECRET;
  });
  const newBody = (text = "Grüße, 東京 🚀") => JSON.stringify({ id: `evt_${randomUUID()}`, text });

  test("[IN-1] [IN-22] [IN-23] [IN-24] [IN-27] runs the target once, and is refused under another secret or with another body", async () => {
    const body = newBody();
    const headers = await headersFor(body, secret);
    const first = await post(toolgate, hook, { body, headers });
    const id = first.body.delivery_id;
    expect([first.status, first.body]).toEqual([202, { success: true, accepted: true, delivery_id: id }]);
    const again = await post(toolgate, hook, { body, headers });
    expect([again.status, again.body]).toEqual([200, { success: true, duplicate: true, delivery_id: id }]);
    const other = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    expect((await post(toolgate, hook, { body, headers: await headersFor(body, other) })).status).toBe(401);
    expect((await post(toolgate, hook, { body: newBody("?"), headers })).status).toBe(401);
    const result = await resultOf(toolgate, String(id));
    expect(result).toEqual({ success: true, text: "Grüße, 東京 🚀", hook: "From a provider" });
  });
});

let started: Promise<RunningToolgate> | undefined;
/** One installation for all senders. */
function running(): Promise<RunningToolgate> {
  started ??= runToolgate("single").then(async (toolgate) => {
    await toolgate.saveTool("echo", ECHO);
    return toolgate;
  });
  return started;
}
afterAll(async () => (await started)?.[Symbol.asyncDispose]());
