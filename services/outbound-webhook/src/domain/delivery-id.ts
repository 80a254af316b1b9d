import { v7, validate, version } from "uuid";

/** A delivery id that tells its creation time: with it the row is found in its partition. */
export function newDeliveryId(now: Date): string {
  return v7({ msecs: now.getTime() });
}

/** The creation time in a delivery id; undefined for what is none. */
export function createdAtOf(deliveryId: string): Date | undefined {
  if (!validate(deliveryId) || version(deliveryId) !== 7) return undefined;
  return new Date(Number.parseInt(deliveryId.replace("-", "").slice(0, 12), 16));
}
