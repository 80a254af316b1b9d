import { Code, ConnectError } from "@connectrpc/connect";
import { eventually } from "@toolgate/testbed/eventually";
import { sign } from "@toolgate/webhook-signing/sign";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PULLS } from "../../src/domain/pull-shares.ts";
import { newEvent, type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

const REFUSED = 3;

describe("the share of a workspace in signed requests", () => {
  let rig: OutboundRig;
  beforeAll(async () => {
    // One pull of large events uses the share up for months.
    rig = await startOutboundRig({ config: { workspaceBytesPerSecond: 1 } });
    rig.receiver.behave(() => ({ status: 410 }));
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  /** An endpoint with undelivered events of 120 KB each, of which a pull takes two. */
  async function endpoint(workspaceId: string, events: number) {
    const { id, secret } = await rig.register(workspaceId, `/${workspaceId}`);
    await rig.endpoints({ workspaceId }).updateEndpoint({ endpointId: id, active: false });
    const dataJson = JSON.stringify({ text: "x".repeat(120_000) });
    await rig.reportMany(Array.from({ length: events }, () => newEvent({ workspaceId, dataJson }, rig.clock.now())));
    const listed = async () => (await rig.undelivered({ workspaceId }).listUndelivered({})).events;
    await eventually(async () => (await listed()).length === events);
    const request = (members: object) => {
      const body = JSON.stringify(members);
      const signature = sign(secret, Math.floor(rig.clock.now().getTime() / 1000), body);
      return { request: { endpointId: id, signature, body: Buffer.from(body) } };
    };
    return {
      pull: (signal?: AbortSignal) => rig.signedPulls.pullSigned(request({}), signal ? { signal } : {}),
      acknowledge: () => rig.signedPulls.acknowledgeSigned(request({ eventIds: ["evt_1"] })),
    };
  }

  it("[WMGMT] [LIMIT-8] further ones wait, too many are refused with a time to come back, and other workspaces are served", async () => {
    const noisy = await endpoint("w-noisy", 2);
    const quiet = await endpoint("w-quiet", 1);
    expect((await noisy.pull()).response?.events).toHaveLength(2);
    const clients = new AbortController();
    const errors: ConnectError[] = [];
    const waiting = Array.from({ length: PULLS.maxWaiting + REFUSED }, () =>
      noisy.pull(clients.signal).catch((error) => errors.push(ConnectError.from(error))),
    );
    await eventually(() => expect(errors).toHaveLength(REFUSED));
    expect((await quiet.pull()).response?.events).toHaveLength(1);
    const acknowledged = await noisy.acknowledge().catch(ConnectError.from);
    expect([...errors, acknowledged]).toMatchObject(Array(REFUSED + 1).fill({ code: Code.ResourceExhausted }));
    for (const { metadata } of errors) expect(Number(metadata.get("retry-after"))).toBeGreaterThan(1_000);
    clients.abort();
    await Promise.all(waiting);
  });
});
