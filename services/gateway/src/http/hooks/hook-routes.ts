import { Code, ConnectError } from "@connectrpc/connect";
import { canonicalIp } from "@toolgate/ip-address/ip-address";
import type { Logger } from "@toolgate/service-host/logger";
import { refusals } from "@toolgate/telemetry/instruments";
import type { WorkspaceShares } from "@toolgate/workspace-share/workspace-shares";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ReceiveHook } from "../../clients/inbound-hook.ts";
import { HOOK_UNAVAILABLE, hookResponse } from "../../domain/hook-responses.ts";
import { type ApiResponse, BAD_REQUEST, INTERNAL_ERROR, NOT_FOUND } from "../../domain/responses.ts";
import { sendResponse } from "../key-api.ts";
import { HOOKS_PATH } from "../paths.ts";
import { readBytes } from "../request-bytes.ts";
import { networkOfClient, waitToRefuse } from "../slow-refusals.ts";
import { type BodyBudget, createBodyBudget } from "./body-budget.ts";
import { createHookSlots, type HookSlots } from "./hook-slots.ts";

/** [IN-21] */
const MAX_BODY_BYTES = 262_144;
/** How the URL of every hook ends. A URL that ends otherwise gets its 404 without a call of inbound-hook. */
const SEGMENT = /^hk_[A-Za-z0-9_-]{1,64}$/;
/** Temporary failures, after which the sender may repeat the call. */
const TEMPORARY: readonly Code[] = [Code.Unavailable, Code.DeadlineExceeded, Code.ResourceExhausted];

/** Of calls that are unknown, not verified, or too many. */
const REFUSALS: ReadonlySet<number> = new Set([401, 404, 429]);

/** The connection ends, so that the rest of the body need not be read. */
const NO_ROOM: ApiResponse = { ...HOOK_UNAVAILABLE, headers: { ...HOOK_UNAVAILABLE.headers, connection: "close" } };

interface HookContext {
  receiveHook: ReceiveHook;
  refusals: WorkspaceShares;
  log: Logger;
}

interface ReceiveContext extends HookContext {
  budget: BodyBudget;
  slots: HookSlots;
}

/** [IN-3] POST /api/v1/hooks/hk_…: passes the raw bytes on to inbound-hook, which verifies them. No CORS, no key. */
export function hookRoutes(options: HookContext) {
  const context: ReceiveContext = { ...options, budget: createBodyBudget(), slots: createHookSlots() };
  return async (app: FastifyInstance): Promise<void> => {
    app.post(`${HOOKS_PATH}*`, {
      onRequest(request, _reply, done) {
        // [IN-19] The router would refuse types that it cannot read; inbound-hook gets the header as it was sent.
        request.headers["content-type"] = undefined;
        done();
      },
      async handler(request, reply) {
        const network = networkOfClient(request.ip);
        const response = await receive(context, request);
        // The body is not kept while this waits.
        if (REFUSALS.has(response.status)) await waitToRefuse(context.refusals, network, reply);
        return sendResponse(reply, response);
      },
    });
  };
}

async function receive(
  { receiveHook, log, budget, slots }: ReceiveContext,
  request: FastifyRequest,
): Promise<ApiResponse> {
  const { "*": hook } = request.params as { "*": string };
  if (!SEGMENT.test(hook)) return NOT_FOUND;
  const clientIp = canonicalIp(request.ip);
  const { bytes, fault } = await readBody(budget, request, clientIp);
  // The sender has gone, so nobody reads this response.
  if (fault === "cut-short") return BAD_REQUEST;
  if (fault === "no-room") {
    refusals.add(1, { limiter: "hook bodies" });
    return NO_ROOM;
  }
  // Only now, so that slow senders, who may be strangers, occupy no slot.
  using slot = slots.take(hook);
  if (!slot) {
    refusals.add(1, { limiter: "hook slots" });
    return HOOK_UNAVAILABLE;
  }
  try {
    const response = await receiveHook({
      hook,
      body: bytes,
      bodyTooLarge: fault === "too-large",
      rawHeaders: request.raw.rawHeaders,
      clientIp,
      requestId: request.id,
    });
    return hookResponse(response);
  } catch (error) {
    // The URL is a part of the credentials, so it is not logged.
    log.error({ err: error }, "hook call failed");
    return isTemporary(error) ? HOOK_UNAVAILABLE : INTERNAL_ERROR;
  }
}

async function readBody(budget: BodyBudget, request: FastifyRequest, clientIp: string) {
  using body = budget.open(clientIp);
  return await readBytes(request.raw, MAX_BODY_BYTES, (bytes) => body.take(bytes));
}

function isTemporary(error: unknown): boolean {
  return error instanceof ConnectError && TEMPORARY.includes(error.code);
}
