import { requestHeaders } from "./request-headers.ts";

/** The headers of an attempt that was made. */
export interface SentHeaders {
  headers: Record<string, string>;
  /** They could not be made again: the secret has gone, or been replaced since. */
  signaturesGone: boolean;
}

/**
 * Headers are not kept, they follow from what is. A secret counts as replaced also within the second of the signature:
 * which of the two was used cannot be told.
 */
export function sentHeaders(attempt: {
  deliveryId: string;
  eventType: string;
  number: number;
  hop: number;
  body: Uint8Array;
  signedAt: Date | null;
  secret: { text: string; replacedAt: Date | null } | undefined;
}): SentHeaders {
  const { signedAt, secret, body } = attempt;
  if (!signedAt) return { headers: {}, signaturesGone: true };
  const known = secret && body.length > 0 && (!secret.replacedAt || secret.replacedAt.getTime() < signedAt.getTime());
  const headers = requestHeaders({ ...attempt, now: signedAt, secret: known ? secret.text : PLACEHOLDER_SECRET });
  if (known) return { headers, signaturesGone: false };
  const { "x-service-signature": _, "webhook-signature": __, ...rest } = headers;
  return { headers: rest, signaturesGone: true };
}

/** Signs what is thrown away. */
const PLACEHOLDER_SECRET = `whsec_${Buffer.alloc(32).toString("base64")}`;
