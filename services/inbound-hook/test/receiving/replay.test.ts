import { HookFormat } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { createPipelinePool } from "@toolgate/postgres/fair-queue/pipeline";
import { newTimedId } from "@toolgate/postgres/timed-id";
import { generateSecret } from "@toolgate/webhook-signing/secret";
import { sign } from "@toolgate/webhook-signing/sign";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAcceptor } from "../../src/receiving/acceptor.ts";
import { type AcceptedCall, createStoreCalls } from "../../src/store/accept.ts";
import { laneQueue } from "../../src/store/queue.ts";
import type { CreateHookInit, TestWorkspace } from "../hook-rig.ts";
import { base64Of, hexOf, newBody, type ReceiveRig, startReceiveRig } from "../receive-rig.ts";

let rig: ReceiveRig;
let workspace: TestWorkspace;
beforeAll(async () => {
  rig = await startReceiveRig({ replicas: 2 });
  workspace = await rig.newWorkspace();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

const providerSecret = generateSecret();
const now = () => Math.floor(rig.clock.now().getTime() / 1000);
type Hook = { id: bigint; url: string; secret: string };

const newHook = async (hook: CreateHookInit): Promise<Hook> => {
  const made = await workspace.createHook({ limit: 10_000, ...hook });
  return { ...made, secret: made.secret || providerSecret };
};
/** The delivery id after a status, so that a repeat shows its original. */
async function responseTo(sent: Promise<{ status: number; body: Record<string, unknown> }>) {
  const { status, body } = await sent;
  return [status, body.delivery_id];
}

describe("native", () => {
  const native = { format: HookFormat.NATIVE };

  test("[AUTH-4] the same time and body are accepted once, however the header is written", async () => {
    const hook = await newHook(native);
    const [body, at] = [newBody(), now()];
    const [, id] = await responseTo(rig.sendSigned(hook, { body, at }));
    const v1 = sign(hook.secret, at, body).split("v1=")[1] ?? "";
    for (const header of [
      `t=${at},v1=${v1}`,
      `v1=${v1.toUpperCase()},t=${at}`,
      `t=${at},v1=${"0".repeat(64)},v1=${v1}`,
    ]) {
      const headers = { "x-service-signature": header, "x-service-delivery": `other ${header.length}` };
      expect(await responseTo(rig.send(hook.url, { body, headers }))).toEqual([200, id]);
    }
    expect((await rig.sendSigned(hook, { body, at: at - 1 })).status).toBe(202);
    expect((await rig.sendSigned(hook, { body: newBody(), at })).status).toBe(202);
  });

  test("[AUTH-5] a retry with a fresh time, or another body, is recognised by X-Service-Delivery", async () => {
    const hook = await newHook(native);
    const headers = { "x-service-delivery": "d1" };
    const [, id] = await responseTo(rig.sendSigned(hook, { body: "{}", at: now() - 5, headers }));
    expect(await responseTo(rig.sendSigned(hook, { body: "{}", headers }))).toEqual([200, id]);
    expect(await responseTo(rig.sendSigned(hook, { body: newBody(), headers }))).toEqual([200, id]);
  });

  test("[AUTH] a call that one hook has accepted is new to another hook", async () => {
    const [one, other] = [await newHook(native), await newHook(native)];
    const headers = { "x-service-delivery": "d" };
    expect((await rig.sendSigned(one, { headers })).status).toBe(202);
    expect((await rig.sendSigned(other, { headers })).status).toBe(202);
  });
});

describe("processor", () => {
  const processor = { format: HookFormat.PROCESSOR, providerSecret };
  const send = (hook: Hook, body: string, at = now(), headers = {}) =>
    rig.send(hook.url, { body, headers: { "processor-signature": sign(providerSecret, at, body), ...headers } });

  test("[AUTH-9] the same signature is accepted once", async () => {
    const hook = await newHook(processor);
    const at = now();
    const [, id] = await responseTo(send(hook, "{}", at));
    expect(await responseTo(send(hook, "{}", at))).toEqual([200, id]);
    expect((await send(hook, "{}", at - 1)).status).toBe(202);
  });

  test("[AUTH-10] [IN-11] the event's id in the body counts, in JSON and in forms, and is the external id", async () => {
    const hook = await newHook(processor);
    const [, id] = await responseTo(send(hook, '{"id":"evt_1"}'));
    expect(await responseTo(send(hook, '{"id":"evt_1","again":true}'))).toEqual([200, id]);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect(await responseTo(send(hook, "id=evt_1", now(), form))).toEqual([200, id]);
    expect((await rig.deliveriesOf(hook.id)).map(({ external_id }) => external_id)).toEqual(["evt_1"]);
    for (const body of ['{"id":1,"n":1}', '{"id":1,"n":2}', '{"id":["evt_1"]}']) {
      expect((await send(hook, body)).status).toBe(202);
    }
  });
});

test("[AUTH-13] shop: the same body is processed once, whatever the headers say", async () => {
  const hook = await newHook({ format: HookFormat.SHOP, providerSecret });
  const body = newBody();
  const send = (text: string, headers = {}) =>
    rig.send(hook.url, { body: text, headers: { "x-shop-hmac-sha256": base64Of(providerSecret, text), ...headers } });
  const [, id] = await responseTo(send(body));
  expect(await responseTo(send(body, { "x-shopify-webhook-id": "2", "x-request-id": "2" }))).toEqual([200, id]);
  expect((await send(`${body} `)).status).toBe(202);
  expect((await rig.deliveriesOf(hook.id)).map(({ external_id }) => external_id)).toEqual([null, null]);
});

describe("bearer", () => {
  const send = ({ url, secret }: Hook, headers: Record<string, string>, body = "{}") =>
    rig.send(url, { body, headers: { authorization: `Bearer ${secret}`, ...headers } });

  test("[AUTH-15] [AUTH-16] [AUTH-17] each id header identifies a call, also with another body; of several the first counts", async () => {
    const hook = await newHook({ format: HookFormat.BEARER });
    const names = ["idempotency-key", "x-delivery-id", "x-request-id"];
    for (const header of names) {
      for (const value of [header, header.repeat(30)]) {
        const [, id] = await responseTo(send(hook, { [header]: value }));
        expect(await responseTo(send(hook, { [header]: value }, newBody()))).toEqual([200, id]);
        expect((await send(hook, { [header]: `${value}y` })).status).toBe(202);
      }
    }
    const ids = (...values: string[]) => Object.fromEntries(names.map((name, n) => [name, values[n] ?? ""]));
    const [, id] = await responseTo(send(hook, ids("a", "b", "c")));
    expect(await responseTo(send(hook, ids("a", "x", "y")))).toEqual([200, id]);
    expect((await send(hook, ids("z", "b", "c"))).status).toBe(202);
    expect((await send(hook, { "x-delivery-id": "b", "x-request-id": "c" })).status).toBe(202);
  });

  test("[AUTH-18] without an id every call is new, and its age does not matter", async () => {
    const hook = await newHook({ format: HookFormat.BEARER });
    for (let call = 0; call < 3; call += 1) expect((await send(hook, {})).status).toBe(202);
    expect(await rig.keysOf(hook.id)).toBe(0);
  });
});

test("[AUTH] github: X-GitHub-Delivery identifies a call, and without it the body", async () => {
  const hook = await newHook({ format: HookFormat.GITHUB, providerSecret });
  const send = (body: string, headers = {}) => {
    const signature = `sha256=${hexOf(providerSecret, body)}`;
    return rig.send(hook.url, { body, headers: { "x-hub-signature-256": signature, ...headers } });
  };
  const [, id] = await responseTo(send("{}", { "x-github-delivery": "g1" }));
  expect(await responseTo(send(newBody(), { "x-github-delivery": "g1" }))).toEqual([200, id]);
  expect((await send("{}", { "x-github-delivery": "g2" })).status).toBe(202);
  const [status, bare] = await responseTo(send("{}"));
  expect(status).toBe(202);
  expect(await responseTo(send("{}"))).toEqual([200, bare]);
});

test("[IN-22] [IN-23] [AUTH-4] of simultaneous equal calls over two replicas exactly one is accepted, and all responses name it", async () => {
  const hook = await newHook({ format: HookFormat.NATIVE });
  for (let round = 0; round < 25; round += 1) {
    const [body, at] = [newBody(), now()];
    const same = Array.from({ length: 4 }, (_, n) => rig.sendSigned(hook, { body, at, replica: n % 2 }));
    // These share only the delivery header with each other.
    const retried = Array.from({ length: 4 }, (_, n) => {
      const headers = { "x-service-delivery": `d${round}` };
      return rig.sendSigned(hook, { body: newBody(), headers, replica: n % 2 });
    });
    for (const copies of [same, retried]) {
      const responses = await Promise.all(copies);
      expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 202]);
      expect(new Set(responses.map(({ body: { delivery_id: id } }) => id)).size).toBe(1);
    }
  }
  expect((await rig.deliveriesOf(hook.id)).length).toBe(50);
  expect((await rig.queued(hook.id)).length).toBe(50);
});

test("[IN-22] [IN-23] of calls in one batch that share a key the first is stored, and each other one is judged after it", async () => {
  const { id } = await newHook({ format: HookFormat.NATIVE });
  await using resources = new AsyncDisposableStack();
  const connection = { url: rig.config.databaseUrl, maxConnections: 1, applicationName: "test" };
  const pool = resources.adopt(createPipelinePool(connection), (owned) => owned.end());
  const acceptor = resources.use(createAcceptor(createStoreCalls({ pool, queue: laneQueue("tool", rig.config.caps) })));
  let ms = Date.now();
  const newCall = (...keys: string[]): AcceptedCall => {
    const createdAt = new Date(ms++);
    const ids = { id: newTimedId(createdAt), createdAt, hookId: Number(id), workspaceId: workspace.id };
    const sent = { externalId: null, body: Buffer.from("{}"), contentType: "", headers: {}, requestId: "" };
    const trace = { traceparent: "", tracestate: "" };
    return { ...ids, ...sent, trace, since: performance.now(), keys: keys.map((key) => Buffer.from(key)) };
  };
  const outcomes = (calls: AcceptedCall[]) => Promise.all(calls.map((call) => acceptor.add(call)));
  const stored = (call: AcceptedCall | undefined) => ({ deliveryId: call?.id, isDuplicate: false });
  const repeats = (call: AcceptedCall | undefined) => ({ deliveryId: call?.id, isDuplicate: true });

  const calls = [newCall("a"), newCall(), newCall("a", "b"), newCall("b"), newCall("b", "c"), newCall("c")];
  const [first, keyless, , third, , last] = calls;
  // What is not stored makes no later call a repeat.
  const expected = [stored(first), stored(keyless), repeats(first), stored(third), repeats(third), stored(last)];
  expect(await outcomes(calls)).toEqual(expected);
  const more = [newCall("a", "d"), newCall("d"), newCall("d")];
  expect(await outcomes(more)).toEqual([repeats(first), stored(more[1]), repeats(more[1])]);
  expect(await rig.deliveriesOf(id)).toHaveLength(5);
});
