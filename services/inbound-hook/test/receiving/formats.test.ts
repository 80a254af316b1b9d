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
  {
    name: "[AUTH] Standard Webhooks, signed by its library",
    hook: { format: HookFormat.STANDARD_WEBHOOKS },
    headers(secret, body, at) {
      const id = `msg_${body.length}_${at}_${Math.abs(body.charCodeAt(12))}`;
      const signature = new Webhook(secret).sign(id, new Date(at * 1000), body);
      return { "webhook-id": id, "webhook-timestamp": String(at), "webhook-signature": signature };
    },
  },
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
    name: "[AUTH] github, signed by its library",
    hook: { format: HookFormat.GITHUB, providerSecret: SECRET },
    headers: async (secret, body) => ({ "x-hub-signature-256": await signGithub(secret, body) }),
  },
];

describe.each([...timed, ...untimed])("$name", (sender) => {
  const newHook = async () => {
    const { url, id, secret } = await workspace.createHook({ ...sender.hook, limit: 10_000 });
    return { url, id, secret: secret || SECRET };
  };
  const call = async (hook: { url: string; secret: string }, at = nowSeconds(), body = newBody()) =>
    (await rig.send(hook.url, { body, headers: await sender.headers(hook.secret, body, at) })).status;

  test("a correct call is accepted, and any change of body, secret or header is not", async () => {
    const hook = await newHook();
    expect(await call(hook)).toBe(202);
    expect(await call({ ...hook, secret: generateSecret() })).toBe(401);
    const body = newBody();
    const headers = await sender.headers(hook.secret, body, nowSeconds());
    if (sender.hook.format !== HookFormat.BEARER)
      expect((await rig.send(hook.url, { body: `${body} `, headers })).status).toBe(401);
    for (const [name, value] of Object.entries(headers).filter(([header]) => header !== "x-shopify-topic")) {
      const { [name]: _, ...others } = headers;
      expect((await rig.send(hook.url, { body, headers: others })).status).toBe(401);
      // Twice, even if both are right.
      expect((await rig.send(hook.url, { body, headers: { ...others, [name]: [value, value] } })).status).toBe(401);
      expect((await rig.send(hook.url, { body, headers: { ...others, [name]: `${value}x` } })).status).toBe(401);
    }
    expect((await rig.send(hook.url, { body, headers })).status).toBe(202);
  });

  test("the time of a signature, where there is one, may be off by the tolerance in both directions", async () => {
    const hook = await newHook();
    const isTimed = timed.includes(sender);
    // Exact to the second only where the time that the call takes cannot change the result.
    for (const [offset, ok] of [
      [-270, true],
      [300, true],
      [-301, false],
      [330, false],
    ] as const) {
      expect(await call(hook, nowSeconds() + offset)).toBe(ok || !isTimed ? 202 : 401);
    }
    if (!isTimed) return;
    await workspace.hooks.updateHook({ hookId: hook.id, toleranceSeconds: 60 });
    expect(await call(hook, nowSeconds() - 61)).toBe(401);
    await workspace.hooks.updateHook({ hookId: hook.id, toleranceSeconds: 3_600 });
    expect(await call(hook, nowSeconds() - 3_570)).toBe(202);
  });
});

test("[AUTH-1] several v1, unknown parts and hex in any case are accepted; two t or a t that is not an integer are not", async () => {
  const hook = await workspace.createHook();
  const at = nowSeconds();
  const send = async (headerOf: (v1: string) => string) => {
    const body = newBody();
    const v1 = sign(hook.secret, at, body).split("v1=")[1] ?? "";
    return (await rig.send(hook.url, { body, headers: { "x-service-signature": headerOf(v1) } })).status;
  };
  const zeros = "0".repeat(64);
  expect(await send((v1) => `t=${at},v1=${zeros},v1=${v1}`)).toBe(202);
  expect(await send((v1) => `v0=x,v1=${v1.toUpperCase()},t=${at},x`)).toBe(202);
  expect(await send((v1) => `t=${at},t=${at},v1=${v1}`)).toBe(401);
  expect(await send((v1) => `t=${at}.0,v1=${v1}`)).toBe(401);
  expect(await send((v1) => `t=+${at},v1=${v1}`)).toBe(401);
  expect(await send((v1) => `v1=${v1}`)).toBe(401);
  expect(await send((v1) => `t=${at},v0=${v1}`)).toBe(401);
});

test("[AUTH-22] no hook can be called without its secret, even by someone who knows the URL", async () => {
  for (const { hook } of [...timed, ...untimed]) {
    const { url } = await workspace.createHook(hook);
    for (const headers of [{}, { authorization: "Bearer " }, { "x-service-signature": "" }, { "webhook-id": "m" }]) {
      expect((await rig.send(url, { body: "{}", headers })).status).toBe(401);
    }
  }
});
