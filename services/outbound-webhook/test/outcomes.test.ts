import { DeliveryStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import type { Behaviour } from "@toolgate/testbed/behaviour";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OutboundRig, startOutboundRig } from "./outbound-rig.ts";

const DELIVERED = { status: DeliveryStatus.DELIVERED };
const RETRYING = { status: DeliveryStatus.RETRYING };
const FAILED = { status: DeliveryStatus.FAILED };

interface Case {
  name: string;
  behaviour: Behaviour;
  expected: object;
}

const CASES: Case[] = [
  { name: "[OUT-33] 200 is success", behaviour: { status: 200 }, expected: DELIVERED },
  {
    name: "[OUT-15] the body does not influence the outcome",
    behaviour: { body: '{"error":"no"}' },
    expected: DELIVERED,
  },
  {
    name: "[OUT-39] [OUT-42] 302 is a failed attempt and not followed",
    behaviour: { status: 302, headers: { location: "/elsewhere" } },
    expected: { ...RETRYING, responseCode: 302, error: "status 302" },
  },
  {
    name: "[OUT-40] 404 is a failed attempt",
    behaviour: { status: 404 },
    expected: { ...RETRYING, responseCode: 404 },
  },
  {
    name: "[OUT-41] 503 is a failed attempt",
    behaviour: { status: 503 },
    expected: { ...RETRYING, responseCode: 503 },
  },
  {
    name: "[OUT-38] a connection that breaks is a failed attempt",
    behaviour: { close: "before-status" },
    expected: { ...RETRYING, responseCode: 0, error: expect.stringContaining("connection error") },
  },
  {
    name: "[OUT-47] 410 ends the delivery on the first attempt",
    behaviour: { status: 410 },
    expected: { ...FAILED, attempts: 1, error: "gone" },
  },
  {
    name: "[OUT-34] [OUT-37] no response within 10 s is a failed attempt",
    behaviour: { hang: "before-status" },
    expected: {
      ...RETRYING,
      responseCode: 0,
      error: "timeout (headers)",
      // Not earlier, however slow the machine is.
      durationMs: expect.toSatisfy((ms: number) => ms >= 9_900),
    },
  },
  { name: "[OUT-34] a response after 7 s is in time", behaviour: { delayMs: 7_000 }, expected: DELIVERED },
  {
    name: "[OUT] headers in time are a success, even if the body never ends",
    behaviour: { hang: "after-headers" },
    expected: DELIVERED,
  },
];

describe.concurrent("the outcome of an attempt", () => {
  let rig: OutboundRig;
  const behaviours = new Map<string, Behaviour>();
  beforeAll(async () => {
    rig = await startOutboundRig();
    rig.receiver.behave((request) => behaviours.get(request.path) ?? {});
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  it.each(CASES)("$name", async ({ name, behaviour, expected }) => {
    const number = CASES.findIndex((one) => one.name === name);
    const workspaceId = `outcome-${number}`;
    behaviours.set(`/${number}`, behaviour);
    await rig.register(workspaceId, `/${number}`);
    await rig.report({ workspaceId });
    await rig.delivery(workspaceId, expected);
    expect(rig.requestsTo("/elsewhere")).toEqual([]);
  });
});
