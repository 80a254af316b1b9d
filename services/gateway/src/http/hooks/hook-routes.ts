import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type ReceivedHeader,
  ReceivedHeaderSchema,
  type ReceiveRequest,
  ReceiveRequestSchema,
  type ReceiveResponse,
} from "@toolgate/gen/toolgate/inbound_hook/v1/receive_pb";
import { canonicalIp, networkOf } from "@toolgate/ip-address/ip-address";
import type { Logger } from "@toolgate/service-host/process/logger";
import type { Slots } from "@toolgate/slots/slots";
import { HOOK_HEADERS } from "@toolgate/webhook-signing/hook-headers";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { HOOK_UNAVAILABLE, hookResponse } from "../../domain/hook-responses.ts";
import { type ApiResponse, BAD_REQUEST, INTERNAL_ERROR, NOT_FOUND } from "../../domain/responses.ts";
import { sendResponse } from "../key-api.ts";
import { HOOKS_PATH } from "../paths.ts";
import { ignoreContentType, readBytes } from "../request-bytes.ts";
import { takeSlot } from "../slots.ts";

/** [IN-21] */
const MAX_BODY_BYTES = 262_144;
/** How the URL of every hook ends. A URL that ends otherwise gets its 404 without a call of inbound-hook. */
const SEGMENT = /^hk_[A-Za-z0-9_-]{1,64}$/;
/** Temporary failures, after which the sender may repeat the call. */
const TEMPORARY: readonly Code[] = [Code.Unavailable, Code.DeadlineExceeded, Code.ResourceExhausted];

/** The connection ends, so that the body need not be read. */
const NO_SLOT: ApiResponse = { ...HOOK_UNAVAILABLE, headers: { ...HOOK_UNAVAILABLE.headers, connection: "close" } };

/** What senders of Standard Webhooks call its headers that use svix. */
const SVIX = /^svix-(?=(?:id|timestamp|signature)$)/;
const PASSED_ON: ReadonlySet<string> = new Set(HOOK_HEADERS);

/** Passes a hook call on to inbound-hook, which decides about it. */
export type ReceiveHook = (request: ReceiveRequest) => Promise<ReceiveResponse>;

interface HookContext {
  receiveHook: ReceiveHook;
  slots: Slots;
  log: Logger;
}

/** [IN-3] POST /api/v1/hooks/hk_…: passes the raw bytes on to inbound-hook, which verifies them. No CORS, no key. */
export function hookRoutes(context: HookContext) {
  return async (app: FastifyInstance): Promise<void> => {
    app.post(`${HOOKS_PATH}*`, {
      onRequest: ignoreContentType,
      handler: async (request, reply) => sendResponse(reply, await receive(context, request, reply)),
    });
  };
}

async function receive(
  { receiveHook, slots, log }: HookContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ApiResponse> {
  const { "*": hook } = request.params as { "*": string };
  if (!SEGMENT.test(hook)) return NOT_FOUND;
  const clientIp = canonicalIp(request.ip);
  // Nobody knows yet who sends, so each network gets its part of the slots, whatever hooks it names.
  using slot = await takeSlot(slots, networkOf(clientIp), reply.raw);
  if (!slot) return NO_SLOT;
  const { bytes, fault } = await readBytes(request.raw, MAX_BODY_BYTES);
  // The sender has disconnected, so nobody reads this response.
  if (fault === "cut-short") return BAD_REQUEST;
  try {
    const call = create(ReceiveRequestSchema, {
      hook,
      body: bytes,
      bodyTooLarge: fault === "too-large",
      headers: receivedHeaders(request.raw.rawHeaders),
      clientIp,
      requestId: request.id,
    });
    return hookResponse(await receiveHook(call));
  } catch (error) {
    // The URL is a part of the credentials, so it is not logged.
    log.error({ err: error }, "hook call failed");
    return TEMPORARY.includes(ConnectError.from(error).code) ? HOOK_UNAVAILABLE : INTERNAL_ERROR;
  }
}

/** [AUTH] Every value of a header that was sent several times: two signatures must not become one. */
function receivedHeaders(rawHeaders: readonly string[]): ReceivedHeader[] {
  const headers: ReceivedHeader[] = [];
  const isStandard = rawHeaders.some((name, at) => at % 2 === 0 && name.toLowerCase() === "webhook-signature");
  // Names and values alternate.
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at]?.toLowerCase() ?? "";
    const name = isStandard ? sent : sent.replace(SVIX, "webhook-");
    if (PASSED_ON.has(name)) headers.push(create(ReceivedHeaderSchema, { name, value: rawHeaders[at + 1] ?? "" }));
  }
  return headers;
}
