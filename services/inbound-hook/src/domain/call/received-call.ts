import type { ReceiveRequest } from "@toolgate/gen/toolgate/inbound_hook/v1/receive_pb";
import type { HookHeader } from "@toolgate/webhook-signing/hook-headers";

/** The headers of a hook call: every value, in the order in which they were sent. */
export type WithHeaders = { headers: readonly Pick<ReceiveRequest["headers"][number], "name" | "value">[] };

/** All values of a header. */
export function valuesOf({ headers }: WithHeaders, name: HookHeader): readonly string[] {
  return headers.filter((header) => header.name === name).map(({ value }) => value);
}

/** The value of a header that must be there once; undefined when it is missing or was sent several times. */
export function onlyValueOf(call: WithHeaders, name: HookHeader): string | undefined {
  const [value, ...others] = valuesOf(call, name);
  return others.length === 0 ? value : undefined;
}

/** The value of a header that may be missing; if it was sent several times, the values as one list. */
export function joinedValueOf(call: WithHeaders, name: HookHeader): string {
  return valuesOf(call, name).join(", ");
}

const INTEGER = /^[0-9]+$/;
const FIRST_LOOP_HOP = 2;

/**
 * [LOOP-3] Whether a hook call continues a loop: the largest number in its hop headers, each of which may be a list, is 2 or
 * higher. A missing header, or one that is not a number, counts as 1.
 */
export function isLoop(call: WithHeaders): boolean {
  return valuesOf(call, "x-service-hop")
    .flatMap((value) => value.split(","))
    .map((part) => part.trim())
    .some((part) => INTEGER.test(part) && Number(part) >= FIRST_LOOP_HOP);
}
