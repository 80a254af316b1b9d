import { type Env, type EnvReader, readConfig } from "@toolgate/service-host/env";

export interface Config {
  host: string;
  port: number;
  natsUrl: string;
  /** Addresses or networks of reverse proxies whose X-Forwarded-For is believed. */
  trustedProxies: string[];
  /** A request that is not whole after this time is cut. */
  requestTimeoutMs: number;
  /** How long a stopping gateway waits for the calls under way. */
  drainMs: number;
  /** Where callers reach the gateway, such as https://api.example.com; unset: as each request was addressed. */
  publicUrl: string;
  /** Base URLs of the services' RPC servers; unset in the single topology. */
  keyAuthUrl: string;
  toolRunnerUrl: string;
  outboundWebhookUrl: string;
}

/** For the single topology, where the other services are in the same process. */
export function gatewayConfig(env: Env): Config {
  return readConfig(env, (reader) => readFields(reader, () => ""));
}

/** For a process of its own. */
export function gatewayProcessConfig(env: Env): Config {
  return readConfig(env, (reader) => readFields(reader, reader.baseUrls));
}

function readFields(reader: EnvReader, upstream: (name: string) => string): Config {
  return {
    host: reader.text("HTTP_HOST", "127.0.0.1"),
    port: reader.integer("PORT", { fallback: 8080, min: 0, max: 65_535 }),
    natsUrl: reader.text("NATS_URL"),
    trustedProxies: reader.list("TRUSTED_PROXIES"),
    requestTimeoutMs: reader.integer("REQUEST_TIMEOUT_MS", { fallback: 30_000, min: 100, max: 600_000 }),
    drainMs: reader.integer("DRAIN_MS", { fallback: 40_000, min: 0, max: 600_000 }),
    publicUrl: reader.text("PUBLIC_URL", ""),
    keyAuthUrl: upstream("KEY_AUTH_URL"),
    toolRunnerUrl: upstream("TOOL_RUNNER_URL"),
    outboundWebhookUrl: upstream("OUTBOUND_WEBHOOK_URL"),
  };
}
