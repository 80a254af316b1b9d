import { timestampFromDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { ReplayState } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { codeOf } from "@toolgate/testbed/rpc-errors";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { previewReplay } from "../../src/store/replay/preview.ts";
import { newEvent, type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

describe("the requests for a replay", () => {
  let rig: OutboundRig;
  let start: Date;
  beforeAll(async () => {
    rig = await startOutboundRig();
  });
  beforeEach(() => {
    rig.receiver.behave(() => ({}));
    start = rig.clock.now();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const client = (workspaceId: string) => rig.replays({ workspaceId, email: "mia@acme.example" });
  const ago = (seconds: number) => new Date(start.getTime() - seconds * SECOND_MS);
  const range = (secondsAgo: number) => ({ from: timestampFromDate(ago(secondsAgo)) });

  it("[OUT] a preview that reaches its limit says that there may be more, even if it has found nothing", async () => {
    const { id } = await rig.register("w-cut", "/cut");
    for (let count = 1; count <= 4; count += 1) {
      await rig.report({ workspaceId: "w-cut" });
      await eventually(() => rig.requestsTo("/cut").length === count);
    }
    const wanted = { from: ago(60), to: new Date(start.getTime() + HOUR_MS), types: ["custom.none"], everything: true };
    expect(await previewReplay(rig.pool, Number(id), wanted, 3)).toMatchObject({ events: 0, more: true });
    expect(await previewReplay(rig.pool, Number(id), wanted, 4)).toMatchObject({ events: 0, more: false });
  });

  it("[OUT] an endpoint has one running replay, and a workspace five", async () => {
    const ids: bigint[] = [];
    for (let index = 0; index < 6; index += 1) {
      const { id } = await rig.register("w-many", `/many-${index}`, [`custom.n${index}`]);
      ids.push(id);
      await rig.endpoints({ workspaceId: "w-many" }).updateEndpoint({ endpointId: id, active: false });
    }
    const events = ids.map((_, index) => newEvent({ workspaceId: "w-many", type: `custom.n${index}` }, ago(10)));
    await rig.reportMany(events);
    await eventually(async () => {
      const { counts } = await rig.undelivered({ workspaceId: "w-many" }).countUndelivered({});
      return counts.every((one) => one.events === 1);
    });
    for (const id of ids)
      await rig.endpoints({ workspaceId: "w-many" }).updateEndpoint({ endpointId: id, active: true });
    rig.receiver.behave(() => ({ status: 500 }));
    const begin = (endpointId = 0n) => client("w-many").startReplay({ endpointId, range: range(60) });
    const twice = await Promise.allSettled([begin(ids[0]), begin(ids[0])]);
    expect(twice.map((one) => one.status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await begin(ids[0]).catch(codeOf)).toBe(Code.FailedPrecondition);
    const others = await Promise.allSettled(ids.slice(1).map((id) => begin(id)));
    const refused = others.filter((one) => one.status === "rejected");
    expect(refused.map((one) => codeOf(one.reason))).toEqual([Code.ResourceExhausted]);
    const { replays } = await client("w-many").listReplays({});
    expect(replays).toHaveLength(5);
    const [first] = replays;
    const { replay } = await client("w-many").cancelReplay({ replayId: first?.id ?? 0n });
    expect(replay).toMatchObject({ state: ReplayState.CANCELLED, cancelledBy: "mia@acme.example" });
    await begin(first?.endpointId);
    const pages: { id: bigint; startedAt: number }[] = [];
    let pageToken = "";
    do {
      const page = await client("w-many").listReplays({ pageSize: 4, pageToken });
      pages.push(
        ...page.replays.map(({ id, startedAt }) => ({ id, startedAt: startedAt ? timestampMs(startedAt) : 0 })),
      );
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(new Set(pages.map(({ id }) => id)).size).toBe(6);
    const starts = pages.map(({ startedAt }) => startedAt);
    expect(starts).toEqual(starts.toSorted((a, b) => b - a));
    const ofOne = await client("w-many").listReplays({ endpointId: first?.endpointId ?? 0n });
    expect(ofOne.replays.map((one) => one.endpointId)).toEqual([first?.endpointId, first?.endpointId]);
  });

  it("[OUT] an inactive endpoint is refused, as for a resend", async () => {
    const { id } = await rig.register("w-off", "/off");
    await rig.endpoints({ workspaceId: "w-off" }).updateEndpoint({ endpointId: id, active: false });
    const started = client("w-off").startReplay({ endpointId: id, range: range(60) });
    expect(await started.catch(codeOf)).toBe(Code.FailedPrecondition);
    const preview = await client("w-off").previewReplay({ endpointId: id, range: range(60) });
    expect(preview).toMatchObject({ events: 0, estimatedSeconds: 0, types: [] });
  });

  it.each([
    ["no range", { range: undefined }],
    ["no start", { range: {} }],
    ["an end before the start", { range: { from: { seconds: 100n, nanos: 0 }, to: { seconds: 99n, nanos: 0 } } }],
    ["a start in the future", { range: { from: { seconds: 9_000_000_000n, nanos: 0 } } }],
    ["a rate over 100", { ratePerSecond: 101 }],
    ["a wildcard", { range: { from: { seconds: 1n, nanos: 0 }, types: ["custom.*"] } }],
    ["an unknown selection", { range: { from: { seconds: 1n, nanos: 0 }, selection: 7 } }],
  ])("[WMGMT] refuses %s as invalid", async (_name, wrong) => {
    const { id } = await rig.register("w-wrong", "/wrong", ["custom.none"]).catch(() => ({ id: 1n }));
    const request = { endpointId: id, range: range(60), ...wrong } as object;
    expect(await client("w-wrong").startReplay(request).catch(codeOf)).toBe(Code.InvalidArgument);
    expect(await client("w-wrong").previewReplay(request).catch(codeOf)).toBe(Code.InvalidArgument);
  });
});
