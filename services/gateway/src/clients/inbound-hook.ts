import { create } from "@bufbuild/protobuf";
import type { Call } from "@toolgate/call-stream/call";
import {
  type ReceivedHeader,
  ReceivedHeaderSchema,
  type ReceiveRequest,
  ReceiveRequestSchema,
  type ReceiveResponse,
} from "@toolgate/gen/toolgate/inbound_hook/v1/receive_pb";
import { HOOK_HEADERS } from "@toolgate/webhook-signing/hook-headers";

/** A hook call: a request to a hook's URL. */
export interface HookCall {
  /** The last segment of the path. */
  hook: string;
  body: Uint8Array;
  bodyTooLarge: boolean;
  /** Names and values alternate, as Node's `rawHeaders` has them. */
  rawHeaders: readonly string[];
  clientIp: string;
  requestId: string;
}

/** Passes a hook call on to inbound-hook, which decides about it. */
export type ReceiveHook = (call: HookCall) => Promise<ReceiveResponse>;

const TIMEOUT_MS = 10_000;
/** What senders of Standard Webhooks call its headers that use svix. */
const SVIX = /^svix-(?=(?:id|timestamp|signature)$)/;
const PASSED_ON: ReadonlySet<string> = new Set(HOOK_HEADERS);

export function createReceiveHook(receive: Call<ReceiveRequest, ReceiveResponse>): ReceiveHook {
  return ({ rawHeaders, ...call }) => {
    const request = create(ReceiveRequestSchema, { ...call, headers: receivedHeaders(rawHeaders) });
    return receive(request, { timeoutMs: TIMEOUT_MS });
  };
}

/** [AUTH] Every value of a header that was sent several times: two signatures must not become one. */
function receivedHeaders(rawHeaders: readonly string[]): ReceivedHeader[] {
  const headers: ReceivedHeader[] = [];
  const isStandard = rawHeaders.some((name, at) => at % 2 === 0 && name.toLowerCase() === "webhook-signature");
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at]?.toLowerCase() ?? "";
    const name = isStandard ? sent : sent.replace(SVIX, "webhook-");
    if (PASSED_ON.has(name)) headers.push(create(ReceivedHeaderSchema, { name, value: rawHeaders[at + 1] ?? "" }));
  }
  return headers;
}
