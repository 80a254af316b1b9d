/** Headers that carry a signature or a token to an incoming hook, in lower case. They are never stored. */
export const CREDENTIAL_HEADERS = [
  "authorization",
  "x-service-signature",
  "processor-signature",
  "stripe-signature",
  "x-shop-hmac-sha256",
  "x-shopify-hmac-sha256",
  "x-hub-signature-256",
  "webhook-timestamp",
  "webhook-signature",
] as const;

/** Headers that identify a hook call, in lower case. They are stored with the hook delivery. */
export const ID_HEADERS = [
  "x-service-delivery",
  "x-github-delivery",
  "webhook-id",
  "idempotency-key",
  "x-delivery-id",
  "x-request-id",
  "x-shopify-webhook-id",
] as const;

/** All headers that decide what happens to a hook call: the gateway passes on these and no others. */
export const HOOK_HEADERS = [
  ...CREDENTIAL_HEADERS,
  ...ID_HEADERS,
  "content-type",
  "content-encoding",
  "x-service-hop",
] as const;

export type HookHeader = (typeof HOOK_HEADERS)[number];
