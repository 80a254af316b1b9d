import type { HookHeader } from "@toolgate/webhook-signing/hook-headers";
import { verify } from "@toolgate/webhook-signing/verify";
import { verifyStandard } from "@toolgate/webhook-signing/verify-standard";
import { verifyBearer, verifyGithub, verifyShop } from "@toolgate/webhook-signing/verify-untimed";
import type { Format, Preset } from "../hook.ts";
import { onlyValueOf, type WithHeaders } from "./received-call.ts";

/** What hook calls are verified with. */
export interface Verification {
  format: Format;
  preset: Preset | null;
  secret: string;
  toleranceSeconds: number;
}

/** `signedAt`: the time in the signature, in Unix seconds; undefined for formats without one. `reason`: for the hook's owner. */
export type Authenticated =
  | { ok: true; signedAt: number | undefined }
  | { ok: false; reason: string; secondsOff?: number };

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
 * [IN-26] [IN-27] [AUTH-22] Verifies a call over its raw body; fails when anything is missing, repeated or wrong. `nowMs`
 * is in milliseconds since 1970.
 */
export function authenticate(
  hook: Verification,
  call: WithHeaders & { body: Uint8Array },
  nowMs: number,
): Authenticated {
  const name = signatureHeader(hook);
  const header = onlyValueOf(call, name);
  // Anybody can sign with an empty secret.
  if (header === undefined || hook.secret === "") {
    return { ok: false, reason: `the header ${name} is missing, or was sent more than once` };
  }
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

const WRONG = "the signature or token is not right: another secret, or the body was changed after signing";
const REASONS = {
  malformed: "the headers of the signature cannot be read",
  mismatch: WRONG,
} as const;

function timed(result: ReturnType<typeof verify>): Authenticated {
  if (result.ok) return { ok: true, signedAt: result.unixTime };
  if (result.reason !== "outside-tolerance") return { ok: false, reason: REASONS[result.reason] };
  return { ok: false, reason: "the time of the signature is too far from our clock", secondsOff: result.secondsOff };
}

function untimed(isAuthentic: boolean): Authenticated {
  return isAuthentic ? { ok: true, signedAt: undefined } : { ok: false, reason: WRONG };
}
