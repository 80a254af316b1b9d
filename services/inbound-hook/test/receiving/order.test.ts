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

const withHeader = (name: string, value: string) => (_hook: Hook, request: HookRequest) => {
  request.headers = { ...request.headers, [name]: value };
};

/** Every reason to refuse a call, in the order in which it wins. */
const FAULTS: [status: number, error: string, spoil: (hook: Hook, request: HookRequest) => unknown][] = [
  [405, "Methode nicht erlaubt", (_hook, request) => Object.assign(request, { method: "PUT" })],
  [404, "Nicht gefunden", (hook) => workspace.hooks.updateHook({ hookId: hook.id, active: false })],
  [508, "Schleife erkannt", withHeader("x-service-hop", "2")],
  [413, "Anfrage zu gross", (_hook, request) => Object.assign(request, { body: " ".repeat(MAX_BODY_BYTES + 1) })],
  [403, "Nicht verfuegbar", () => rig.lock(workspace, true)],
  [401, "Nicht autorisiert", withHeader("x-service-signature", "t=1,v1=00")],
  // One call used up the limit.
  [429, "Aufruflimit erreicht", (hook) => workspace.hooks.updateHook({ hookId: hook.id, limit: 1 })],
  [400, "Ungueltige Anfrage", (_hook, request) => Object.assign(request, { body: request.body ?? "not JSON" })],
];

test.each(FAULTS.map(([status, error], index) => [status, error, index] as const))(
  "[IN] [LOOP-3] [IN-28] %i (%s) wins over every check that comes later",
  async (status, error, index) => {
    const hook = await workspace.createHook();
    const original = newBody();
    const accepted = await rig.sendSigned(hook, { body: original, headers: { "x-service-delivery": "d" } });
    expect(accepted.status).toBe(202);
    // The request is also a duplicate, which would get 200.
    const request: HookRequest = {};
    for (const [, , spoil] of FAULTS.slice(index).toReversed()) await spoil(hook, request);
    const body = request.body ?? original;
    const signature = sign(hook.secret, Math.floor(Date.now() / 1000), body);
    const headers = { "x-service-signature": signature, "x-service-delivery": "d", ...request.headers };
    // A new minute may begin before a limit is reached; the call is repeated then.
    await eventually(async () => {
      const response = await rig.send(hook.url, { ...request, body, headers });
      expect([response.status, JSON.parse(response.text)]).toMatchObject([status, { success: false, error }]);
    });
    expect((await rig.deliveriesOf(hook.id)).length).toBe(1);
  },
);
