/** What a receiver does first. Runs as it is in Node.js. */
export const VERIFY_CODE = `import { createHmac, timingSafeEqual } from "node:crypto";

// rawBody: a Buffer of the bytes received. header: the value of X-Service-Signature.
export function isFromToolgate(rawBody, header, secret = process.env.WEBHOOK_SECRET) {
  const [, time, digest] = /^t=([0-9]+),v1=([0-9a-f]{64})$/.exec(header ?? "") ?? [];
  if (!digest || Math.abs(Date.now() / 1000 - Number(time)) > 300) return false;
  const expected = createHmac("sha256", secret).update(time + ".").update(rawBody).digest();
  return timingSafeEqual(expected, Buffer.from(digest, "hex"));
}
`;
