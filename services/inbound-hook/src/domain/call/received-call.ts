import type { HookHeader } from "@toolgate/webhook-signing/hook-headers";

/** A hook call as the gateway received it. */
export interface ReceivedCall {
  /** The raw bytes. */
  body: Uint8Array;
  bodyTooLarge: boolean;
  /** Every value of each header, in the order in which they were sent. */
  headers: ReadonlyMap<string, readonly string[]>;
  clientIp: string;
  requestId: string;
}

type Headers = Pick<ReceivedCall, "headers">;

/** All values of a header. */
export function valuesOf({ headers }: Headers, name: HookHeader): readonly string[] {
  return headers.get(name) ?? [];
}

/** The value of a header that must be there once; undefined when it is missing or was sent several times. */
export function onlyValueOf(call: Headers, name: HookHeader): string | undefined {
  const [value, ...others] = valuesOf(call, name);
  return others.length === 0 ? value : undefined;
}

/** The value of a header that may be missing; if it was sent several times, the values as one list. */
export function joinedValueOf(call: Headers, name: HookHeader): string {
  return valuesOf(call, name).join(", ");
}
