import { fromBinary } from "@bufbuild/protobuf";
import { AttemptResultBatchSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { lockGroup } from "@toolgate/testbed/locked-group";
import { afterEach, beforeEach, expect, it } from "vitest";
import { LEASE_MS } from "../../src/events/attempt-sender.ts";
import { QUEUE_TABLES } from "../../src/store/queue.ts";
import { newEvent, type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

const WORKSPACES = ["w-free", "w-locked"];
/** As many as a workspace has slots. */
const DELIVERIES = 5;

let rig: OutboundRig;
let held: AsyncDisposableStack;
beforeEach(async () => {
  rig = await startOutboundRig({ instances: [["manager", "fan-out", "dispatcher"]] });
  held = new AsyncDisposableStack();
});
afterEach(async () => {
  await held.disposeAsync();
  await rig[Symbol.asyncDispose]();
});

const reached = (workspaceId: string, condition: string, deliveries = DELIVERIES) =>
  eventually(async () => expect(await count(workspaceId, condition)).toBe(deliveries));

async function count(workspaceId: string, condition: string): Promise<number> {
  const from = "outbound_webhook.delivery d left join outbound_webhook.queue_item q on q.item_id = d.id";
  const text = `select count(*)::int as count from ${from} where d.workspace_id = $1 and ${condition}`;
  return (await rig.pool.query(text, [workspaceId])).rows[0].count;
}

/** Claims deliveries of both workspaces while there is no worker, then holds the lock of one, as a slow transaction would. */
async function claimAndLock(): Promise<void> {
  for (const workspaceId of WORKSPACES)
    for (let endpoint = 1; endpoint <= DELIVERIES; endpoint += 1)
      await rig.register(workspaceId, `/${workspaceId}/${endpoint}`);
  held.use(rig.clock.stop());
  await rig.reportMany(WORKSPACES.map((workspaceId) => newEvent({ workspaceId }, rig.clock.now())));
  for (const workspaceId of WORKSPACES) await reached(workspaceId, "lease_until is not null");
  held.use(await lockGroup(rig.pool, QUEUE_TABLES, "w-locked"));
}

/** The numbers in the stream of the messages with results that come again, as often as they do. */
async function watchRepeats(): Promise<number[]> {
  const repeats: number[] = [];
  rig.bus.nc.subscribe("$JS.ACK.ATTEMPTS.outbound-webhook-results.>", {
    callback(_, message) {
      if (message.string().startsWith("-NAK")) repeats.push(Number(message.subject.split(".")[5]));
    },
  });
  await rig.bus.nc.flush();
  return repeats;
}

async function workspacesIn(messageNumber: number): Promise<string[]> {
  const message = await rig.bus.jsm.streams.getMessage("ATTEMPTS", { seq: messageNumber });
  const { results } = fromBinary(AttemptResultBatchSchema, message?.data ?? new Uint8Array());
  return results.map(({ workspaceId }) => workspaceId);
}

it("[FAIR] [OUT-57] results of a locked workspace come again alone while those of others are applied, and none is lost or sent twice", async () => {
  await claimAndLock();
  const repeats = await watchRepeats();
  await rig.start(["worker"]);
  let rounds = 1;
  await reached("w-free", "status = 'delivered'");
  for (; rounds < 10 || repeats.length < 20; rounds += 1) {
    await rig.report({ workspaceId: "w-free" });
    await reached("w-free", "status = 'delivered'", (rounds + 1) * DELIVERIES);
  }
  for (const number of new Set(repeats)) expect(await workspacesIn(number)).toContain("w-locked");
  await reached("w-locked", "status = 'pending' and lease_until is not null");
  await held.disposeAsync();
  await reached("w-locked", "status = 'delivered'");
  expect(rig.receiver.requests).toHaveLength((1 + rounds) * DELIVERIES);
});

it("[FAIR] [OUT-57] leases that have expired are found while another workspace is locked, and its own afterwards", async () => {
  await claimAndLock();
  rig.clock.advance(LEASE_MS + 1);
  await reached("w-free", "lease_until is null");
  await reached("w-locked", "lease_until is not null");
  await held.disposeAsync();
  await reached("w-locked", "lease_until is null");
});
