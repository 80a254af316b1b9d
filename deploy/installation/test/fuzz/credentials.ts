import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { Dice } from "./dice.ts";

export type Headers = [name: string, value: string][];

/** A hook that is called, and what a sender to it must know. */
export interface FuzzHook {
  id: string;
  path: string;
  secret: string;
  format: "native" | "stripe" | "shopify" | "bearer" | "github" | "standard";
}

/** What a call is signed over. */
export interface Signed {
  body: Buffer;
  /** Unix time. */
  t: number;
  /** The sender's id of the call; empty: none is sent. */
  id: string;
}

const HEADER: Readonly<Record<FuzzHook["format"], string>> = {
  native: "x-service-signature",
  stripe: "stripe-signature",
  shopify: "x-shopify-hmac-sha256",
  bearer: "authorization",
  github: "x-hub-signature-256",
  standard: "webhook-signature",
};
const BEARER_IDS = ["idempotency-key", "x-delivery-id", "x-request-id"];

/** Formats that sign a time. */
export const TIMED: readonly FuzzHook["format"][] = ["native", "stripe", "standard"];
/** Formats that sign the body. */
export const isSigned = ({ format }: FuzzHook) => format !== "bearer";

/** The header that proves who the sender is. */
export const credentialHeader = ({ format }: FuzzHook) => HEADER[format];

/** Headers that a hook accepts; written from the documentation, not with the code that verifies them. */
export function credentials(hook: FuzzHook, { body, t, id }: Signed, dice: Dice): Headers {
  const hex = (text: string) => createHmac("sha256", hook.secret).update(text).update(body).digest("hex");
  const named = (name: string): Headers => (id === "" ? [] : [[name, id]]);
  const name = HEADER[hook.format];
  switch (hook.format) {
    case "native":
      return [[name, `t=${t},v1=${hex(`${t}.`)}`], ...named("x-service-delivery")];
    case "stripe":
      return [[name, `t=${t},v1=${hex(`${t}.`)},v0=${"0".repeat(64)}`]];
    case "shopify":
      return [
        [name, createHmac("sha256", hook.secret).update(body).digest("base64")],
        ...named("x-shopify-webhook-id"),
      ];
    case "github":
      return [[name, `sha256=${hex("")}`], ...named("x-github-delivery")];
    case "bearer":
      return [[name, `Bearer ${hook.secret}`], ...named(dice.pick(BEARER_IDS))];
    case "standard":
      return [
        ["webhook-id", id],
        ["webhook-timestamp", String(t)],
        [name, standardSignature(hook.secret, id, t, body)],
      ];
  }
}

/** The library takes the body as text only. */
function standardSignature(secret: string, id: string, t: number, body: Buffer): string {
  const text = body.toString("utf8");
  if (Buffer.from(text).equals(body)) return new Webhook(secret).sign(id, new Date(t * 1000), text);
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${t}.`).update(body).digest("base64")}`;
}
