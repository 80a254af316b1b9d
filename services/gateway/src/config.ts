import { type NeedSettings, readNeeds } from "@toolgate/service-host/connections";
import { type Env, readConfig as read } from "@toolgate/service-host/env";
import { SERVICES } from "@toolgate/service-registry/services";
import { ANSWER_LIMITS, type AnswerLimits } from "./domain/chat/open-answers.ts";

export const { needs: NEEDS } = SERVICES.gateway;

export interface Config extends NeedSettings<(typeof NEEDS)[number]> {
  host: string;
  port: number;
  /** Addresses or networks of reverse proxies whose X-Forwarded-For is trusted. */
  trustedProxies: string[];
  /** A request that is not complete after this time is cut. */
  requestTimeoutMs: number;
  /** How long a stopping gateway waits for the calls under way. */
  drainMs: number;
  /** How much of it idle connections stay open, so that their clients can close them after a response. */
  drainIdleMs: number;
  /** Where callers reach the gateway, such as https://api.example.com; empty: as each request was addressed. */
  publicUrl: string;
  answerLimits: AnswerLimits;
}

export function readConfig(env: Env): Config {
  return read(env, (reader) => ({
    ...readNeeds(reader, "gateway", NEEDS),
    host: reader.text("HTTP_HOST", "127.0.0.1"),
    port: reader.integer("PORT", { fallback: 8080, min: 0, max: 65_535 }),
    trustedProxies: reader.list("TRUSTED_PROXIES"),
    requestTimeoutMs: reader.integer("REQUEST_TIMEOUT_MS", { fallback: 30_000, min: 100, max: 600_000 }),
    drainMs: reader.integer("DRAIN_MS", { fallback: 40_000, min: 0, max: 600_000 }),
    drainIdleMs: reader.integer("DRAIN_IDLE_MS", { fallback: 3_000, min: 0, max: 60_000 }),
    publicUrl: reader.text("PUBLIC_URL", ""),
    answerLimits: {
      perUser: reader.integer("CHAT_STREAMS_PER_USER", { fallback: ANSWER_LIMITS.perUser, min: 1, max: 1_000_000 }),
      perWorkspace: reader.integer("CHAT_STREAMS_PER_WORKSPACE", {
        fallback: ANSWER_LIMITS.perWorkspace,
        min: 1,
        max: 1_000_000,
      }),
    },
  }));
}
