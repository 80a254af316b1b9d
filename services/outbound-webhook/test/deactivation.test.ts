import { DeliveryStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { type MailTrap, startMailTrap } from "@toolgate/testbed/servers/mail-trap";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type OutboundRig, startOutboundRig } from "./outbound-rig.ts";

const MINUTE_MS = 60_000;

describe("deactivation", () => {
  let mailbox: MailTrap;
  let rig: OutboundRig;
  beforeAll(async () => {
    mailbox = await startMailTrap();
    rig = await startOutboundRig({ smtpUrl: mailbox.url, adminEmails: ["ann@acme.example", "bob@acme.example"] });
  });
  beforeEach(() => rig.receiver.behave(() => ({ status: 410 })));
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    await mailbox[Symbol.asyncDispose]();
  });

  const endpointOf = async (workspaceId: string, endpointId: bigint) =>
    (await rig.endpoints({ workspaceId }).getEndpoint({ endpointId })).endpoint;
  const deliveriesOf = async (workspaceId: string) =>
    (await rig.deliveries({ workspaceId }).listDeliveries({})).deliveries;

  /** One event at a time, so that the order of the outcomes is the order of the events. */
  async function deliver(workspaceId: string, status: number): Promise<void> {
    const before = (await deliveriesOf(workspaceId)).length;
    rig.receiver.behave(() => ({ status }));
    await rig.report({ workspaceId });
    await eventually(async () => {
      const deliveries = await deliveriesOf(workspaceId);
      return deliveries.length === before + 1 && deliveries[0]?.attempts === 1;
    });
  }

  it("[OUT-48] [OUT-49] the fifth final failure in a row deactivates, with one email to the admins", async () => {
    const { id, secret } = await rig.register("w-five", "/hooks/very-secret-path");
    for (let count = 1; count <= 4; count += 1) await deliver("w-five", 410);
    expect(await endpointOf("w-five", id)).toMatchObject({ active: true, failuresInARow: 4 });
    await deliver("w-five", 410);
    await eventually(async () => (await endpointOf("w-five", id))?.active === false);
    const mail = await eventually(() => mailbox.emails[0] ?? false);
    expect(mail.recipients.toSorted()).toEqual(["ann@acme.example", "bob@acme.example"]);
    expect(mail.text).toContain(`endpoint ${id}`);
    expect(mail.text).not.toContain("very-secret-path");
    expect(mail.text).not.toContain(secret);
    await eventually(async () => {
      const { rows } = await rig.pool.query("select 1 from outbound_webhook.endpoint where notice_due_at is not null");
      return rows.length === 0;
    });
    expect(mailbox.emails).toHaveLength(1);
  });

  it("[OUT-49] an email that the server refuses is tried again", async () => {
    mailbox.refuse(true);
    const before = mailbox.emails.length;
    await rig.register("w-refusing", "/refusing");
    for (let count = 1; count <= 5; count += 1) await deliver("w-refusing", 410);
    await eventually(() => mailbox.refusals > 0);
    mailbox.refuse(false);
    rig.clock.advance(3 * MINUTE_MS);
    await eventually(() => mailbox.emails.length > before);
    expect(mailbox.emails).toHaveLength(before + 1);
  });

  it("[OUT-36] a success in between resets the failure count", async () => {
    const { id } = await rig.register("w-between", "/between");
    for (const status of [410, 410, 410, 410, 200, 410]) await deliver("w-between", status);
    expect(await endpointOf("w-between", id)).toMatchObject({ active: true, failuresInARow: 1 });
  });

  it("[OUT] deactivation cancels outstanding retries, which do not count as failures", async () => {
    const { id } = await rig.register("w-cancel", "/cancel");
    for (let count = 0; count < 3; count += 1) await deliver("w-cancel", 500);
    await rig.endpoints({ workspaceId: "w-cancel" }).updateEndpoint({ endpointId: id, active: false });
    await eventually(async () => {
      const statuses = (await deliveriesOf("w-cancel")).map((delivery) => delivery.status);
      expect(statuses).toEqual(Array(3).fill(DeliveryStatus.CANCELLED));
    });
    const before = rig.requestsTo("/cancel").length;
    rig.clock.advance(MINUTE_MS);
    rig.wake();
    await deliver("w-between", 200);
    expect(rig.requestsTo("/cancel")).toHaveLength(before);
    expect(await endpointOf("w-cancel", id)).toMatchObject({ active: false, failuresInARow: 0 });
  });

  it("[OUT] an event for an inactive endpoint is not delivered after activation", async () => {
    const { id } = await rig.register("w-skip", "/skip");
    const endpoints = rig.endpoints({ workspaceId: "w-skip" });
    await endpoints.updateEndpoint({ endpointId: id, active: false });
    await rig.report({ workspaceId: "w-skip" });
    const undelivered = rig.undelivered({ workspaceId: "w-skip" });
    await eventually(async () => (await undelivered.countUndelivered({})).counts[0]?.events === 1);
    expect(await deliveriesOf("w-skip")).toEqual([]);
    await endpoints.updateEndpoint({ endpointId: id, active: true });
    await deliver("w-skip", 200);
    expect(rig.requestsTo("/skip")).toHaveLength(1);
  });

  it("[OUT-50] [WMGMT-11] activation works and resets the counter", async () => {
    const { id } = await rig.register("w-again", "/again");
    for (let count = 0; count < 2; count += 1) await deliver("w-again", 410);
    const endpoints = rig.endpoints({ workspaceId: "w-again" });
    await endpoints.updateEndpoint({ endpointId: id, active: false });
    const { endpoint } = await endpoints.updateEndpoint({ endpointId: id, active: true });
    expect(endpoint).toMatchObject({ active: true, failuresInARow: 0 });
    expect(endpoint?.deactivatedAt).toBeUndefined();
    await deliver("w-again", 200);
    expect(rig.requestsTo("/again")).toHaveLength(3);
  });

  it("[OUT] an attempt in flight when its endpoint is deactivated ends and is recorded, without a retry", async () => {
    const { id } = await rig.register("w-wire", "/wire");
    rig.receiver.behave(() => ({ status: 500, delayMs: 700 }));
    await rig.report({ workspaceId: "w-wire" });
    await eventually(() => rig.requestsTo("/wire").length === 1);
    await rig.endpoints({ workspaceId: "w-wire" }).updateEndpoint({ endpointId: id, active: false });
    await rig.delivery("w-wire", { attempts: 1, status: DeliveryStatus.CANCELLED, responseCode: 500 });
  });
});
