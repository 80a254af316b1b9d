import type { ShareLimits } from "@toolgate/workspace-share/turn";

const KIB = 1024;
/** A pulled body is read from the database, signed, and encoded twice: for the gateway, and for the receiver. */
export const PULL_WEIGHT = 6;
/** The limits of signed requests; `bytesPerSecond` is a setting. */
export const PULLS: Omit<ShareLimits, "bytesPerSecond"> = {
  burstBytes: KIB * KIB,
  freeBytes: 16 * KIB,
  bytesBesideOthers: 96 * KIB,
  maxRunning: 2,
  maxWaiting: 200,
  // Shorter than the gateway waits for a response.
  maxWaitMs: 15_000,
};
