import { durationMs, timestampFromDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import {
  type Attempt,
  DeliveryStatus,
  SignatureMistake,
  SignatureScheme,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { codeOf } from "@toolgate/testbed/rpc-errors";
import { sign } from "@toolgate/webhook-signing/sign";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

const headersOf = (attempt: Attempt | undefined) =>
  Object.fromEntries((attempt?.headers ?? []).map(({ name, value }) => [name, value]));

describe("the attempts of a delivery, one by one", () => {
  let rig: OutboundRig;
  const statuses = new Map<string, number>();
  beforeAll(async () => {
    rig = await startOutboundRig();
    rig.receiver.behave(({ path }) => ({ status: statuses.get(path) ?? 200, body: `${"ä".repeat(998)}\0😀tail` }));
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  /** A delivery that failed once and succeeded a minute later. */
  async function deliveredAtSecond(workspaceId: string, path: string) {
    statuses.set(path, 500);
    const endpoint = await rig.register(workspaceId, path);
    const client = rig.deliveries({ workspaceId });
    const eventId = await rig.report({ workspaceId, dataJson: '{"text":"Grüße","n":1.0}' });
    await rig.delivery(workspaceId, { status: DeliveryStatus.RETRYING });
    statuses.set(path, 204);
    rig.clock.advance(61_000);
    rig.wake();
    const { id: deliveryId } = await rig.delivery(workspaceId, { status: DeliveryStatus.DELIVERED });
    return { endpoint, client, deliveryId, eventId };
  }

  it("[OUT-11] [OUT-12] [OUT-13] [OUT-29] [OUT-35] shows a delivery with its id and result, and each attempt with its headers, signed time, timings, address, response and exact bytes", async () => {
    const { client, deliveryId, eventId, endpoint } = await deliveredAtSecond("w-shown", "/shown");
    const { delivery, attemptLog, body, payload } = await client.getDelivery({ deliveryId });
    expect(deliveryId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(delivery).toMatchObject({ eventId, endpointId: endpoint.id, eventType: "custom.thing", attempts: 2 });
    expect(delivery?.responseCode).toBe(204);
    const requests = rig.requestsTo("/shown");
    expect(requests).toHaveLength(2);
    for (const [index, request] of requests.entries()) {
      const attempt = attemptLog[index];
      expect(attempt).toMatchObject({ number: index + 1, address: "127.0.0.1", signaturesGone: false });
      expect(request.headers).toMatchObject(headersOf(attempt));
      expect(Object.keys(headersOf(attempt))).toHaveLength(10);
      expect(Number(attempt?.signedAt?.seconds)).toBe(Number(request.headers["webhook-timestamp"]));
      expect(attempt?.durationMs).toBeGreaterThanOrEqual(attempt?.firstByteMs ?? Number.NaN);
      expect(Buffer.from(body).equals(request.body)).toBe(true);
    }
    expect(payload).toBe(String(requests[0]?.body));
    const response = `${"ä".repeat(998)}\uFFFD😀`;
    expect(attemptLog[0]).toMatchObject({ responseCode: 500, response, error: "status 500" });
    expect(attemptLog[1]).toMatchObject({ responseCode: 204, response: "", error: "" });
  });

  it("[OUT-11] shows the time from the event to the first attempt and to the end", async () => {
    const { client, deliveryId } = await deliveredAtSecond("w-delays", "/delays");
    const { attemptLog, firstAttemptAfter, endedAfter, delivery, body } = await client.getDelivery({ deliveryId });
    const event = Date.parse(JSON.parse(Buffer.from(body).toString()).created);
    const [first, end] = [attemptLog[0]?.at, delivery?.finishedAt];
    if (!first || !end || !firstAttemptAfter || !endedAfter) throw new Error("not complete");
    expect(durationMs(firstAttemptAfter)).toBe(timestampMs(first) - event);
    expect(durationMs(endedAfter)).toBe(timestampMs(end) - event);
    expect(durationMs(endedAfter)).toBeGreaterThan(60_000);
  });

  it("[OUT-8] [OUT-9] signatures of a replaced or deleted secret are not shown", async () => {
    const { client, deliveryId, endpoint } = await deliveredAtSecond("w-replaced", "/replaced");
    const endpoints = rig.endpoints({ workspaceId: "w-replaced" });
    const expectGone = async () => {
      for (const attempt of (await client.getDelivery({ deliveryId })).attemptLog) {
        expect(attempt.signaturesGone).toBe(true);
        const { "x-service-signature": service, "webhook-signature": standard, ...rest } = headersOf(attempt);
        expect([service, standard]).toEqual([undefined, undefined]);
        expect(rest["webhook-timestamp"]).toBe(String(attempt.signedAt?.seconds));
      }
    };
    await endpoints.rotateSecret({ endpointId: endpoint.id });
    await expectGone();
    await endpoints.deleteEndpoint({ endpointId: endpoint.id });
    await expectGone();
  });

  it("[OUT-11] a delivery can be read while the sealing key of its endpoint's secret is missing", async () => {
    const { client, deliveryId, endpoint } = await deliveredAtSecond("w-unsealable", "/unsealable");
    await rig.pool.query("update outbound_webhook.endpoint set secret = '\\x00' where id = $1", [endpoint.id]);
    const { attemptLog } = await client.getDelivery({ deliveryId });
    expect(attemptLog.map(({ signaturesGone, headers }) => [signaturesGone, headers.length])).toEqual([
      [true, 8],
      [true, 8],
    ]);
  });

  it("[OUT-22] [OUT-28] [OUT-32] the debugger compares a received signature with what was sent", async () => {
    const { client, deliveryId, endpoint } = await deliveredAtSecond("w-debug", "/debug");
    const [first, second] = rig.requestsTo("/debug");
    const lines = (headers: object, names: string[]) =>
      Object.entries(headers)
        .filter(([name]) => names.includes(name))
        .map(([name, value]) => `${name}: ${value}`)
        .join("\n");
    const service = lines(second?.headers ?? {}, ["x-service-signature", "x-service-delivery", "content-type"]);
    const sent = second?.body ?? Buffer.alloc(0);
    const t = Number(second?.headers["webhook-timestamp"]);
    const base = { endpointId: endpoint.id, body: sent, receivedAt: timestampFromDate(new Date(t * 1000)) };
    expect(await client.debugSignature({ ...base, headers: service })).toMatchObject({
      scheme: SignatureScheme.SERVICE,
      headerFault: "",
      timeWithinTolerance: true,
      secondsOff: 0n,
      signatureMatches: true,
      mistakes: [],
      secretReplacedSince: false,
    });
    const reordered = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(String(sent))).toReversed()));
    const response = await client.debugSignature({ ...base, headers: service, body: Buffer.from(reordered) });
    expect(response).toMatchObject({
      signatureMatches: false,
      mistakes: [SignatureMistake.BODY_RESERIALISED],
      bodyDiffersAt: 2,
    });
    const olderTime = service.replace(/t=\d+/, `t=${first?.headers["webhook-timestamp"]}`);
    expect(await client.debugSignature({ ...base, headers: olderTime, deliveryId })).toMatchObject({
      mistakes: [SignatureMistake.TIME_OF_OTHER_ATTEMPT],
    });
    await rig.endpoints({ workspaceId: "w-debug" }).rotateSecret({ endpointId: endpoint.id });
    expect(await client.debugSignature({ ...base, headers: service })).toMatchObject({
      signatureMatches: false,
      mistakes: [],
      secretReplacedSince: true,
    });
  });

  it("the debugger reveals neither the secret nor a signature that the caller does not have", async () => {
    const { id: endpointId, secret } = await rig.register("w-oracle", "/oracle");
    const client = rig.deliveries({ workspaceId: "w-oracle" });
    const now = Math.floor(rig.clock.now().getTime() / 1000);
    const body = Buffer.from('{"forged":true}');
    for (const headers of [
      `t=${now},v1=${"0".repeat(64)}`,
      `t=${now}`,
      "",
      `webhook-id: a\nwebhook-timestamp: ${now}`,
    ]) {
      const response = JSON.stringify(await client.debugSignature({ endpointId, body, headers }), (_, value) =>
        typeof value === "bigint" ? String(value) : value,
      );
      expect(response).not.toContain(sign(secret, now, body).split("v1=")[1]);
      expect(response).not.toContain(secret.slice("whsec_".length));
    }
  });

  it("[WMGMT] the debugger takes at most 256 KB", async () => {
    const { id: endpointId } = await rig.register("w-debug-mine", "/debug-mine");
    const request = { endpointId, body: Buffer.from("{}"), headers: "t=1,v1=0" };
    const manager = rig.deliveries({ workspaceId: "w-debug-mine" });
    const large = { ...request, body: Buffer.alloc(256 * 1024 + 1) };
    expect(await manager.debugSignature(large).catch(codeOf)).toBe(Code.InvalidArgument);
    const long = { ...request, headers: "x".repeat(20_000) };
    expect(await manager.debugSignature(long).catch(codeOf)).toBe(Code.InvalidArgument);
  });
});
