import { verifyGithub } from "@toolgate/webhook-signing/github";
import type { HookHeader } from "@toolgate/webhook-signing/hook-headers";
import { verifyBearer, verifyShop } from "@toolgate/webhook-signing/shop-and-bearer";
import { verify } from "@toolgate/webhook-signing/verify";
import { verifyStandard } from "@toolgate/webhook-signing/verify-standard";
import type { Format, Preset } from "../hook.ts";
import { onlyValueOf, type ReceivedCall } from "./received-call.ts";

/** What hook calls are verified with. */
export interface Verification {
  format: Format;
  preset: Preset | null;
  secret: string;
  toleranceSeconds: number;
}

/** A hook call that has passed verification. */
export interface Authenticated {
  /** The time in the signature, in Unix seconds; undefined for formats without one. */
  signedAt: number | undefined;
}

/** [AUTH-6] [AUTH-11] A preset only changes the name of the header. */
function signatureHeader({ format, preset }: Verification): HookHeader {
  switch (format) {
    case "processor":
      return preset === "stripe" ? "stripe-signature" : "processor-signature";
    case "shop":
      return preset === "shopify" ? "x-shopify-hmac-sha256" : "x-shop-hmac-sha256";
    case "github":
      return "x-hub-signature-256";
    case "standard_webhooks":
      return "webhook-signature";
    case "bearer":
      return "authorization";
    case "native":
      return "x-service-signature";
  }
}

/**
 * [IN-26] [IN-27] [AUTH-22] Verifies a call over its raw body; undefined when anything is missing, repeated or wrong.
 * `nowMs` is in milliseconds since 1970.
 */
export function authenticate(
  hook: Verification,
  call: Pick<ReceivedCall, "headers" | "body">,
  nowMs: number,
): Authenticated | undefined {
  const header = onlyValueOf(call, signatureHeader(hook));
  // Anybody can sign with an empty secret.
  if (header === undefined || hook.secret === "") return undefined;
  const { format, secret, toleranceSeconds } = hook;
  const { body } = call;
  const now = Math.floor(nowMs / 1000);
  switch (format) {
    case "native":
    case "processor":
      return timed(verify({ secret, header, body, now, toleranceSeconds }));
    case "standard_webhooks": {
      const id = onlyValueOf(call, "webhook-id") ?? "";
      const timestamp = onlyValueOf(call, "webhook-timestamp") ?? "";
      return timed(
        verifyStandard({ secret, headers: { id, timestamp, signature: header }, body, now, toleranceSeconds }),
      );
    }
    case "shop":
      return untimed(verifyShop(secret, header, body));
    case "github":
      return untimed(verifyGithub(secret, header, body));
    case "bearer":
      return untimed(verifyBearer(secret, header));
  }
}

function timed(result: ReturnType<typeof verify>): Authenticated | undefined {
  return result.ok ? { signedAt: result.unixTime } : undefined;
}

function untimed(isAuthentic: boolean): Authenticated | undefined {
  return isAuthentic ? { signedAt: undefined } : undefined;
}
