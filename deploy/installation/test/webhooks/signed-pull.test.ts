import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { eventually } from "@toolgate/testbed/eventually";
import { sign } from "@toolgate/webhook-signing/sign";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type CallResponse, type RunningToolgate, runToolgate, type TopologyKind } from "../running-toolgate.ts";

const EMITTER = {
  external_api: true,
  handler: `export default async (_, ctx) => {
    await ctx.emitWebhook("order.added", { name: "Zoë" });
    return { success: true };
  };`,
};
const PAGE = new URL("../../../../docs/undelivered-events.md", import.meta.url);
const SHELL_DEADLINE_MS = 150_000;
const run = promisify(execFile);

interface Pulled {
  events?: { eventId: string; body: string }[];
  more?: boolean;
}

describe.each<TopologyKind>(["single", "split"])("in the %s topology", (kind) => {
  let toolgate: RunningToolgate;
  let endpoint: { id: string; secret: string };
  let emitter: string;
  let eventId: string;
  beforeAll(async () => {
    toolgate = await runToolgate(kind);
    toolgate.receiver.behave(() => ({ status: 410 }));
    await toolgate.saveTool("emitter", EMITTER);
    emitter = (await toolgate.createKey({ name: "k", tools: ["emitter"] })).secret;
  });
  afterAll(() => toolgate[Symbol.asyncDispose]());
  /** A new endpoint that has rejected one event. */
  beforeEach(async () => {
    endpoint = await toolgate.createEndpoint(["custom.*"]);
    await toolgate.call("emitter", emitter);
    eventId = await eventually(async () => {
      const { events = [] } = await toolgate.manage<Pulled>("outbound_webhook.v1.UndeliveredService/PullUndelivered", {
        endpointId: endpoint.id,
      });
      return events[0]?.eventId ?? false;
    });
  });

  const nowSeconds = () => Math.floor(Date.now() / 1000);
  const post = (action: string, body: string, signature: string | undefined, id = endpoint.id): Promise<CallResponse> =>
    toolgate.request(`/api/v1/webhooks/endpoints/${id}/${action}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(signature !== undefined && { "x-service-signature": signature }),
      },
      body,
    });
  const signed = (action: string, request: object, secret = endpoint.secret, atSeconds = nowSeconds()) => {
    const body = JSON.stringify(request);
    return post(action, body, sign(secret, atSeconds, body));
  };

  test("[OUT-26] [WMGMT] a receiver pulls and acknowledges with its endpoint's secret alone", async () => {
    const pulled = await signed("pull", { pageSize: 10 });
    expect(pulled.status).toBe(200);
    expect(pulled.headers.get("cache-control")).toBe("no-store");
    const { events = [] } = pulled.body as Pulled;
    expect(events.map((event) => event.eventId)).toEqual([eventId]);
    expect(JSON.parse(events[0]?.body ?? "")).toMatchObject({ id: eventId, data: { name: "Zoë" } });
    const acknowledged = await signed("acknowledge", { eventIds: [eventId] });
    expect([acknowledged.status, acknowledged.body]).toEqual([200, { acknowledged: 1 }]);
    expect((await signed("acknowledge", { eventIds: [eventId] })).body).toEqual({ acknowledged: 1 });
    expect((await signed("pull", {})).body).toEqual({});
    const listed = await toolgate.manage("outbound_webhook.v1.UndeliveredService/ListUndelivered", {
      endpointId: endpoint.id,
      state: "UNDELIVERED_STATE_PULLED",
    });
    expect(listed).toMatchObject({ events: [{ eventId, pulledBy: "endpoint's secret" }] });
  });

  test("[OUT-27] [OUT-28] [OUT-32] a request not signed now, over this body, with this endpoint's secret gets the same 401", async () => {
    const other = await toolgate.createEndpoint(["custom.other"]);
    const acknowledgement = JSON.stringify({ eventIds: [eventId] });
    const good = sign(endpoint.secret, nowSeconds(), acknowledgement);
    const refused = await Promise.all([
      post("acknowledge", acknowledgement, undefined),
      post("acknowledge", acknowledgement, ""),
      post("acknowledge", `${acknowledgement} `, good),
      post("acknowledge", acknowledgement, good, other.id),
      post("acknowledge", acknowledgement, good, "999999"),
      post("acknowledge", acknowledgement, good, "0"),
      post("acknowledge", acknowledgement, good, `${endpoint.id}x`),
      post("acknowledge", acknowledgement, good, "99999999999999999999"),
      signed("acknowledge", { eventIds: [eventId] }, other.secret),
      signed("acknowledge", { eventIds: [eventId] }, endpoint.secret, nowSeconds() - 310),
      signed("acknowledge", { eventIds: [eventId] }, endpoint.secret, nowSeconds() + 310),
      signed("pull", {}, other.secret),
    ]);
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 401));
    expect(new Set(refused.map(({ text }) => text)).size).toBe(1);
    expect(refused[0]?.body).toMatchObject({ code: "unauthenticated" });
    expect(((await signed("pull", {})).body as Pulled).events).toHaveLength(1);
  });

  test("[WMGMT] a signed body that is not a request, such as a delivery, is refused", async () => {
    const { events = [] } = (await signed("pull", {})).body as Pulled;
    const delivery = events[0]?.body ?? "";
    for (const action of ["pull", "acknowledge"]) {
      const replayed = await post(action, delivery, sign(endpoint.secret, nowSeconds(), delivery));
      expect([replayed.status, replayed.body]).toMatchObject([400, { code: "invalid_argument" }]);
    }
    for (const body of ['{"pageSize":1,"other":true}', '{"endpointId":"1"}', '{"workspace":"w"}']) {
      expect((await post("pull", body, sign(endpoint.secret, nowSeconds(), body))).status, body).toBe(400);
    }
    for (const body of ["", "[]", "null", "{", '{"eventIds":"x"}', "\u0000"]) {
      expect((await post("acknowledge", body, sign(endpoint.secret, nowSeconds(), body))).status, body).toBe(400);
    }
    const large = JSON.stringify({ eventIds: ["x".repeat(256 * 1024)] });
    expect((await post("acknowledge", large, sign(endpoint.secret, nowSeconds(), large))).status).toBe(400);
  });

  test("[OUT-9] after a rotation the old secret opens nothing and the new one does", async () => {
    expect((await signed("pull", {})).status).toBe(200);
    const { secret } = await toolgate.manage<{ secret: string }>("outbound_webhook.v1.EndpointService/RotateSecret", {
      endpointId: endpoint.id,
    });
    expect((await signed("pull", {})).status).toBe(401);
    expect((await signed("pull", {}, secret)).status).toBe(200);
  });

  test("[WMGMT] the two paths take POST alone, and the RPCs behind them cannot be reached from outside", async () => {
    const path = `/api/v1/webhooks/endpoints/${endpoint.id}/pull`;
    const got = await toolgate.request(path);
    expect([got.status, got.headers.get("allow")]).toEqual([405, "POST"]);
    const rpc = "/toolgate.outbound_webhook.v1.SignedPullService/PullSigned";
    const headers = { "content-type": "application/json" };
    expect((await toolgate.request(rpc, { method: "POST", headers, body: "{}" })).status).toBe(404);
  });

  test("[WMGMT] the commands of the documentation pull", async () => {
    const [, script = ""] = /```sh\n(signed_post\(\)[\s\S]*?)```/.exec(await readFile(PAGE, "utf8")) ?? [];
    const env = {
      PATH: process.env.PATH,
      TOOLGATE: toolgate.baseUrl,
      ENDPOINT_ID: endpoint.id,
      SECRET: endpoint.secret,
    };
    const { stdout } = await run("sh", ["-c", script], { env, timeout: SHELL_DEADLINE_MS });
    expect(JSON.parse(stdout)).toMatchObject({ events: [{ eventId }] });
    const acknowledge = `${script.replace(/signed_post pull.*/, "")}signed_post acknowledge '{"eventIds":["${eventId}"]}'`;
    const acknowledged = await run("sh", ["-c", acknowledge], { env, timeout: SHELL_DEADLINE_MS });
    expect(JSON.parse(acknowledged.stdout)).toEqual({ acknowledged: 1 });
  });
});
