import { createHash, createHmac } from "node:crypto";
import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import { createEpochs } from "@toolgate/epoch/epoch";
import { connectRedis, untilReady } from "@toolgate/epoch/redis";
import { start as startGateway } from "@toolgate/gateway/service";
import { lockWorkspace } from "@toolgate/key-auth/operator/workspaces";
import { createLogger } from "@toolgate/service-host/process/logger";
import { localServices } from "@toolgate/service-host/rpc/local-services";
import { eventually } from "@toolgate/testbed/eventually";
import { sign } from "@toolgate/webhook-signing/sign";
import { type HookRig, type RigOptions, startHookRig } from "./hook-rig.ts";

export const MAX_BODY_BYTES = 262_144;

export interface HookResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** Parsed; empty when there is no body. */
  body: Record<string, unknown>;
}

export interface HookRequest {
  method?: string;
  /** After the path of the hooks; the hook's own by default. */
  segment?: string;
  path?: string;
  body?: string | Uint8Array;
  /** A list sends the header several times. */
  headers?: OutgoingHttpHeaders;
  /** Through which replica. */
  replica?: number;
  /** Not repeated when it gets 503. */
  once?: boolean;
}

/** The rig with a gateway in front of each replica. */
export interface ReceiveRig extends HookRig {
  baseUrl(replica?: number): string;
  /** One request over a new connection, repeated while it gets 503, as senders have to. */
  send(url: string, request?: HookRequest): Promise<HookResponse>;
  /** The same, signed in the native format. */
  sendSigned(hook: { url: string; secret: string }, request?: HookRequest & { at?: number }): Promise<HookResponse>;
  /** The deliveries of a hook, oldest first. */
  deliveriesOf(hookId: bigint): Promise<StoredDelivery[]>;
  /** Deliveries that wait for a runner. */
  queued(hookId: bigint): Promise<string[]>;
  /** What makes later calls repeats. */
  keysOf(hookId: bigint): Promise<number>;
  /** As the operator does it. */
  lock(workspace: { code: string }, locked: boolean): Promise<void>;
}

export interface StoredDelivery {
  id: string;
  external_id: string | null;
  created_at: Date;
  body: Buffer;
  content_type: string;
  headers: Record<string, string>;
  request_id: string;
  workspace_id: string;
  status: string;
}

const log = createLogger({ service: "gateway", level: process.env.TEST_LOG_LEVEL ?? "silent" });

/** Replicas that only receive, so that what they accept stays in the queue. */
export async function startReceiveRig({
  replicas = 1,
  ...options
}: RigOptions & { replicas?: number } = {}): Promise<ReceiveRig> {
  await using resources = new AsyncDisposableStack();
  const instances = Array.from({ length: replicas }, () => ["receiver"] as const);
  const rig = resources.use(await startHookRig({ instances, ...options }));
  const urls: string[] = [];
  for (const service of rig.services) {
    const local = localServices({ log });
    local.add("inbound-hook", service);
    const peers = local.peersOf("gateway");
    const config = {
      natsUrl: rig.nats.url,
      host: "127.0.0.1",
      port: 0,
      trustedProxies: ["127.0.0.1"],
      requestTimeoutMs: 30_000,
      drainMs: 1_000,
      drainIdleMs: 0,
      publicUrl: "",
      answerLimits: { perUser: 20, perWorkspace: 2_000 },
    };
    const gateway = resources.use(await startGateway(config, { log, now: () => rig.clock.now().getTime(), peers }));
    urls.push(`http://127.0.0.1:${gateway.port}`);
  }
  const baseUrl = (replica = 0) => urls[replica] as string;
  const send: ReceiveRig["send"] = (url, { replica, segment, path, once, ...request } = {}) =>
    eventually(async () => {
      const calledPath = path ?? `/api/v1/hooks/${segment ?? url.split("/").at(-1)}`;
      const response = await exchange(baseUrl(replica), calledPath, request);
      return (once || response.status !== 503) && response;
    });
  const owned = resources.move();
  return {
    ...rig,
    baseUrl,
    send,
    sendSigned({ url, secret }, { at = Math.floor(rig.clock.now().getTime() / 1000), headers, ...request } = {}) {
      const body = request.body ?? "{}";
      return send(url, { ...request, body, headers: { "x-service-signature": sign(secret, at, body), ...headers } });
    },
    async deliveriesOf(hookId) {
      const { rows } = await rig.pool.query(
        "select * from inbound_hook.delivery where hook_id = $1 order by created_at, id",
        [hookId],
      );
      return rows;
    },
    async queued(hookId) {
      const { rows } = await rig.pool.query(
        "select item_id from inbound_hook.tool_queue_item where member_id = $1 order by created_at, item_id",
        [hookId],
      );
      return rows.map((row) => row.item_id);
    },
    async keysOf(hookId) {
      const { rows } = await rig.pool.query(
        "select count(*)::integer as keys from inbound_hook.replay_key where hook_id = $1",
        [hookId],
      );
      return rows[0].keys;
    },
    async lock({ code }, locked) {
      const redis = connectRedis({ url: rig.redis.url, name: "test", onError: () => {} });
      try {
        await untilReady(redis, 60_000);
        const readPassword = async () => "";
        const context = { pool: rig.pool, epochs: createEpochs(redis), readPassword, now: rig.clock.now };
        await lockWorkspace(context, code, locked);
      } finally {
        redis.disconnect();
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function exchange(
  baseUrl: string,
  path: string,
  { method = "POST", body = "", headers = {} }: HookRequest,
): Promise<HookResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<HookResponse>();
  const { hostname, port } = new URL(baseUrl);
  const length = method === "POST" && headers["transfer-encoding"] === undefined;
  const content = Buffer.from(body);
  const sent = httpRequest(
    {
      hostname,
      port,
      path,
      method,
      agent: false,
      headers: { ...(length && { "content-length": content.length }), ...headers },
    },
    (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const parsed = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed });
      });
    },
  );
  sent.on("error", reject);
  sent.end(content);
  return promise;
}

/** The signature in the formats without a time. */
export const hexOf = (secret: string, body: string | Uint8Array) =>
  createHmac("sha256", secret).update(body).digest("hex");
export const base64Of = (secret: string, body: string | Uint8Array) =>
  createHmac("sha256", secret).update(body).digest("base64");

/** A new body at each call. */
export function newBody(): string {
  bodies += 1;
  return JSON.stringify({ text: createHash("sha256").update(String(bodies)).digest("hex") });
}
let bodies = 0;
