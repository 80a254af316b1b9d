import type { ServerResponse } from "node:http";
import { createSlots, type Slots } from "@toolgate/slots/slots";
import { refusals } from "@toolgate/telemetry/instruments";

/** How many requests of each kind this gateway works on at the same time. */
const COUNTS = {
  /** Calls of tools, over REST and MCP: a body and a result of up to 1 MiB each. */
  calls: 1_000,
  /** Requests of the console and its API: a body of 2 MiB and a page of 4 MiB. */
  management: 32,
  /** Forms with files, by user: the workspace of a form is not known before it has been read. */
  uploads: 8,
  /** Hook calls, by the sender's network: a body of 256 KiB, of which nobody knows yet who sent it. */
  hookCalls: 256,
  /** Descriptions of a key's tools that are being made or sent: up to 6 MiB, until the client has read them. */
  descriptions: 16,
} as const;

type Kind = keyof typeof COUNTS;
export type GatewaySlots = Record<Kind, Slots>;

export function createGatewaySlots(): GatewaySlots {
  const entries = Object.entries(COUNTS).map(([kind, count]) => [kind, counted(kind, count)]);
  return Object.fromEntries(entries) as GatewaySlots;
}

function counted(kind: string, count: number): Slots {
  const slots = createSlots(count);
  return {
    async take(holder, signal) {
      const slot = await slots.take(holder, signal);
      if (!slot && !signal?.aborted) refusals.add(1, { limiter: `slots: ${kind}` });
      return slot;
    },
  };
}

/**
 * Takes a slot for a request. Dispose it when the work has ended, also that of other services; it is given back then, but
 * not before the response has been sent or its client has disconnected. Undefined: the request is refused.
 */
export async function takeSlot(
  slots: Slots,
  holder: string,
  response: ServerResponse,
): Promise<Disposable | undefined> {
  const slot = await slots.take(holder, whenClosed(response));
  if (!slot) return undefined;
  return {
    [Symbol.dispose]() {
      if (response.closed) slot[Symbol.dispose]();
      else response.once("close", () => slot[Symbol.dispose]());
    },
  };
}

/** Aborted when the response has been sent, or its client has disconnected before that. */
export function whenClosed(response: ServerResponse): AbortSignal {
  const closed = new AbortController();
  if (response.closed) closed.abort();
  else response.once("close", () => closed.abort());
  return closed.signal;
}
