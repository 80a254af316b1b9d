import { createHash } from "node:crypto";
import { sign as signGithub } from "@octokit/webhooks-methods";
import { HookFormat, HookPreset } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { generateSecret } from "@toolgate/webhook-signing/secret";
import { sign } from "@toolgate/webhook-signing/sign";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CreateHookInit, TestWorkspace } from "../hook-rig.ts";
import { base64Of, newBody, type ReceiveRig, startReceiveRig } from "../receive-rig.ts";

let rig: ReceiveRig;
let workspace: TestWorkspace;
beforeAll(async () => {
  rig = await startReceiveRig();
  workspace = await rig.newWorkspace();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

const SECRET = generateSecret();
const { webhooks: stripe } = new Stripe("sk_test_1");
const nowSeconds = () => Math.floor(rig.clock.now().getTime() / 1000);

interface Sender {
  name: string;
  hook: CreateHookInit;
  /** What a sender puts into its headers at this time. */
  headers(secret: string, body: string, at: number): Record<string, string> | Promise<Record<string, string>>;
}

const timed: Sender[] = [
  {
    name: "[AUTH-1] [AUTH-2] [AUTH-3] native",
    hook: { format: HookFormat.NATIVE },
    headers: (secret, body, at) => ({ "x-service-signature": sign(secret, at, body) }),
  },
  {
    name: "[AUTH-6] [AUTH-7] [AUTH-8] processor",
    hook: { format: HookFormat.PROCESSOR, providerSecret: SECRET },
    headers: (secret, body, at) => ({ "processor-signature": sign(secret, at, body) }),
  },
  {
    name: "[AUTH-6] [AUTH-7] [AUTH-8] processor with the preset of Stripe, signed by its library",
    hook: { format: HookFormat.PROCESSOR, preset: HookPreset.STRIPE, providerSecret: SECRET },
    headers: (secret, payload, timestamp) => ({
      "stripe-signature": stripe.generateTestHeaderString({ payload, secret, timestamp }),
    }),
  },
  ...["webhook", "svix"].map(
    (prefix): Sender => ({
      name: `[AUTH] Standard Webhooks in headers ${prefix}-…, signed by its library`,
      hook: { format: HookFormat.STANDARD_WEBHOOKS },
      headers(secret, body, at) {
        const id = `msg_${at}_${createHash("sha256").update(body).digest("hex")}`;
        const signature = new Webhook(secret).sign(id, new Date(at * 1000), body);
        return { [`${prefix}-id`]: id, [`${prefix}-timestamp`]: String(at), [`${prefix}-signature`]: signature };
      },
    }),
  ),
];

const untimed: Sender[] = [
  {
    name: "[AUTH-11] [AUTH-12] shop",
    hook: { format: HookFormat.SHOP, providerSecret: SECRET },
    headers: (secret, body) => ({ "x-shop-hmac-sha256": base64Of(secret, body) }),
  },
  {
    name: "[AUTH-11] [AUTH-12] shop with the preset of Shopify",
    hook: { format: HookFormat.SHOP, preset: HookPreset.SHOPIFY, providerSecret: SECRET },
    headers: (secret, body) => ({
      "x-shopify-hmac-sha256": base64Of(secret, body),
      "x-shopify-topic": "orders/create",
    }),
  },
  {
    name: "[AUTH-14] bearer",
    hook: { format: HookFormat.BEARER },
    headers: (secret) => ({ authorization: `bEARER ${secret}` }),
  },
  {
    name: "[AUTH] github, signed by its library, whose secret was pasted with what is around it",
    hook: { format: HookFormat.GITHUB, providerSecret: `\ufeff ${SECRET}\u00a0\r\n` },
    headers: async (secret, body) => ({ "x-hub-signature-256": await signGithub(secret, body) }),
  },
];

describe.each([...timed, ...untimed])("$name", (sender) => {
  test("a correct call is accepted; one with another body, secret or age, or a repeated header, is not", async () => {
    const made = await workspace.createHook(sender.hook);
    const hook = { url: made.url, secret: made.secret || SECRET };
    const call = async (at = nowSeconds(), secret = hook.secret) => {
      const body = newBody();
      return (await rig.send(hook.url, { body, headers: await sender.headers(secret, body, at) })).status;
    };
    expect(await call()).toBe(202);
    expect(await call(nowSeconds(), generateSecret())).toBe(401);
    // Exact to the second only where the time that the call takes cannot change the result.
    const isTimed = timed.includes(sender);
    expect([await call(nowSeconds() - 270), await call(nowSeconds() + 300)]).toEqual([202, 202]);
    for (const offset of [-301, 330]) expect(await call(nowSeconds() + offset)).toBe(isTimed ? 401 : 202);
    const body = newBody();
    const headers = await sender.headers(hook.secret, body, nowSeconds());
    if (sender.hook.format !== HookFormat.BEARER)
      expect((await rig.send(hook.url, { body: `${body} `, headers })).status).toBe(401);
    const [name = "", value = ""] = Object.entries(headers).at(0) ?? [];
    expect((await rig.send(hook.url, { body, headers: { ...headers, [name]: [value, value] } })).status).toBe(401);
    expect((await rig.send(hook.url, { body, headers })).status).toBe(202);
  });
});
