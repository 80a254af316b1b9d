import { eventually } from "@toolgate/testbed/eventually";
import { sign } from "@toolgate/webhook-signing/sign";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { TestWorkspace } from "../hook-rig.ts";
import { type HookRequest, MAX_BODY_BYTES, newBody, type ReceiveRig, startReceiveRig } from "../receive-rig.ts";

let rig: ReceiveRig;
let workspace: TestWorkspace;
beforeAll(async () => {
  rig = await startReceiveRig();
});
beforeEach(async () => {
  workspace = await rig.newWorkspace();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

type Hook = Awaited<ReturnType<TestWorkspace["createHook"]>>;

/** Every reason to refuse a call, in the order in which it wins. */
const FAULTS: {
  status: number;
  error: string;
  spoil(hook: Hook, request: HookRequest): Promise<void> | void;
}[] = [
  {
    status: 405,
    error: "Methode nicht erlaubt",
    spoil(_hook, request) {
      request.method = "PUT";
    },
  },
  {
    status: 404,
    error: "Nicht gefunden",
    spoil: async (hook) => void (await workspace.hooks.updateHook({ hookId: hook.id, active: false })),
  },
  {
    status: 508,
    error: "Schleife erkannt",
    spoil(_hook, request) {
      request.headers = { ...request.headers, "x-service-hop": "2" };
    },
  },
  {
    status: 413,
    error: "Anfrage zu gross",
    spoil(_hook, request) {
      request.body = " ".repeat(MAX_BODY_BYTES + 1);
    },
  },
  { status: 403, error: "Nicht verfuegbar", spoil: () => rig.lock(workspace, true) },
  {
    status: 401,
    error: "Nicht autorisiert",
    spoil(_hook, request) {
      request.headers = { ...request.headers, "x-service-signature": "t=1,v1=00" };
    },
  },
  {
    status: 429,
    error: "Aufruflimit erreicht",
    // One call used up the limit.
    spoil: async (hook) => void (await workspace.hooks.updateHook({ hookId: hook.id, limit: 1 })),
  },
  {
    status: 400,
    error: "Ungueltige Anfrage",
    spoil(_hook, request) {
      request.body ??= "not JSON";
    },
  },
];

test.each(FAULTS.map((fault, index) => [fault.status, fault.error, index] as const))(
  "[IN] [LOOP-3] [IN-28] %i (%s) wins over every check that comes later",
  async (status, error, index) => {
    const hook = await workspace.createHook();
    const original = newBody();
    const accepted = await rig.sendSigned(hook, { body: original, headers: { "x-service-delivery": "d" } });
    expect(accepted.status).toBe(202);
    // The request is also a duplicate, which would get 200.
    const request: HookRequest = {};
    for (const fault of FAULTS.slice(index).toReversed()) await fault.spoil(hook, request);
    const body = request.body ?? original;
    const signature = sign(hook.secret, Math.floor(Date.now() / 1000), body);
    const headers = { "x-service-signature": signature, "x-service-delivery": "d", ...request.headers };
    // A new minute may begin before a limit is reached; the call is repeated then.
    await eventually(
      async () => {
        const response = await rig.send(hook.url, { ...request, body, headers });
        expect([response.status, JSON.parse(response.text)]).toMatchObject([status, { success: false, error }]);
      },
      { deadlineMs: 10_000 },
    );
    expect((await rig.deliveriesOf(hook.id)).length).toBe(1);
  },
);

test("[IN-28] a locked workspace gets 403 for its active hooks only, immediately in both directions", async () => {
  const [hook, inactive] = [await workspace.createHook(), await workspace.createHook()];
  await workspace.hooks.updateHook({ hookId: inactive.id, active: false });
  expect((await rig.sendSigned(hook)).status).toBe(202);
  await rig.lock(workspace, true);
  expect((await rig.sendSigned(hook, { body: newBody() })).status).toBe(403);
  expect((await rig.send(inactive.url)).status).toBe(404);
  await rig.lock(workspace, false);
  expect((await rig.sendSigned(hook, { body: newBody() })).status).toBe(202);
});
