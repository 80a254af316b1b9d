import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

const EMITTER = {
  external_api: true,
  handler: `export default async (_, ctx) => {
    await ctx.emitWebhook("order.added", { name: "Zoë" });
    return { success: true };
  };`,
};

interface Replay {
  state: string;
  sent?: number;
  delivered?: number;
  startedBy: string;
}

let toolgate: RunningToolgate;
let endpoint: { id: string };
let key: { id: string; secret: string };
beforeAll(async () => {
  toolgate = await runToolgate("single");
  await toolgate.saveTool("emitter", EMITTER);
  endpoint = await toolgate.createEndpoint(["custom.*"]);
  key = await toolgate.createKey({ name: "k", tools: ["emitter"] });
});
afterAll(() => toolgate[Symbol.asyncDispose]());

const undelivered = <Response>(rpc: string, request: Record<string, unknown> = {}) =>
  toolgate.manage<Response>(`outbound_webhook.v1.UndeliveredService/${rpc}`, { endpointId: endpoint.id, ...request });
const replays = <Response>(rpc: string, request: Record<string, unknown>) =>
  toolgate.manage<Response>(`outbound_webhook.v1.ReplayService/${rpc}`, request);

test("[OUT-52] [OUT-53] [WMGMT] a replay sends refused events again, and shows its progress", async () => {
  toolgate.receiver.behave(() => ({ status: 410 }));
  await toolgate.call("emitter", key.secret);
  const range = { from: new Date(Date.now() - 3_600_000).toISOString() };
  const target = { endpointId: endpoint.id, range };
  await eventually(async () => (await replays<{ events?: number }>("PreviewReplay", target)).events === 1);
  const before = toolgate.receiver.requests.length;
  toolgate.receiver.behave(() => ({}));
  const { replayId } = await replays<{ replayId: string }>("StartReplay", target);
  const replay = await eventually(async () => {
    const response = await replays<{ replay: Replay }>("GetReplay", { replayId });
    return response.replay.state === "REPLAY_STATE_DONE" && response.replay;
  });
  expect(replay).toMatchObject({ sent: 1, delivered: 1, startedBy: toolgate.account.email });
  const [refused, again] = toolgate.receiver.requests.slice(before - 1);
  expect(again?.body.equals(refused?.body ?? Buffer.alloc(0))).toBe(true);
  expect(again?.headers["x-service-delivery"]).not.toBe(refused?.headers["x-service-delivery"]);
  expect(await undelivered("ListUndelivered")).toEqual({});
});
