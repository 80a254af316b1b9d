import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { Access } from "@toolgate/gen/toolgate/options/v1/access_pb";
import { accessOf } from "@toolgate/service-host/access";
import type { Logger } from "@toolgate/service-host/logger";
import { ShareExceeded } from "@toolgate/workspace-share/turn";
import type { FastifyReply, FastifyRequest } from "fastify";
import { RETRY_AFTER_HEADER } from "../../domain/responses.ts";
import { MAX_BYTES_READ_FIRST, saysAtMost } from "../request-bytes.ts";
import { loginOfRequest, memberRoleOf } from "../sessions/login-of-request.ts";
import { upstreamResponse } from "../upstream-response.ts";
import { COSTS, type RequestTurn, takeTurn, type WorkspaceTurns } from "../workspace-turns.ts";
import { readJson, workspaceIn } from "./json-body.ts";

/** A management request that may go on. */
export interface Admitted {
  /** Both are empty for RPCs that need no login. `principal`: as key-auth has signed it. */
  workspaceId: string;
  principal: string;
  /** Undefined for RPCs that need no login. */
  turn?: RequestTurn;
  /** JSON, of which nothing has been made yet. */
  body: Uint8Array;
}

/** Rejects with the error for the caller, whose request may still be arriving then. `signal`: the caller has left. */
export type Admit = (
  method: DescMethod,
  request: FastifyRequest,
  reply: FastifyReply,
  signal: AbortSignal,
) => Promise<Admitted>;

/** Of requests that need no login, such as a login itself: passwords and tokens in any spelling. */
const MAX_PUBLIC_BYTES = MAX_BYTES_READ_FIRST;
export const MAX_BYTES = 2 * 1024 * 1024;

/**
 * Finds out who calls and waits for the turn of the workspace, before messages are made of a request. A large or compressed
 * body is read only for a valid login, because strangers can send many.
 */
export function createAdmission(keyAuth: Transport, turns: WorkspaceTurns, log: Logger): Admit {
  const sessions = createClient(SessionService, keyAuth);
  return async (method, request, reply, signal) => {
    if (accessOf(method) === Access.PUBLIC) {
      return { workspaceId: "", principal: "", body: await readJson(request, MAX_PUBLIC_BYTES) };
    }
    const upstream = { signal, log };
    const token = tokenOf(request);
    if (!saysAtMost(request, MAX_BYTES_READ_FIRST)) await upstreamResponse(sessions.getSession({ token }), upstream);
    const body = await readJson(request, MAX_BYTES);
    const workspace = workspaceIn(body);
    const user = await upstreamResponse(sessions.authorize({ token, workspace }), upstream);
    if (!memberRoleOf(user.role)) throw new ConnectError("your role does not permit this", Code.PermissionDenied);
    const turn = await waitForTurn(turns, user.workspaceId, body.length, request, reply);
    return { workspaceId: user.workspaceId, principal: user.principal, turn, body };
  };
}

function tokenOf(request: FastifyRequest): string {
  const login = loginOfRequest(request);
  if (login.kind === "none") throw new ConnectError("login required", Code.Unauthenticated);
  if (login.kind === "without-csrf-token") {
    throw new ConnectError("X-CSRF-Token missing or wrong", Code.PermissionDenied);
  }
  return login.token;
}

/** A list may take long, and its largest pages are megabytes, so a workspace gets two at a time, in turn. */
async function waitForTurn(
  turns: WorkspaceTurns,
  workspaceId: string,
  bodyBytes: number,
  { raw: request }: FastifyRequest,
  { raw: response }: FastifyReply,
): Promise<RequestTurn> {
  try {
    return await takeTurn(turns.management, workspaceId, request, response, COSTS.management, bodyBytes);
  } catch (error) {
    if (!(error instanceof ShareExceeded)) throw error;
    const headers = { [RETRY_AFTER_HEADER]: String(error.retryAfterSeconds) };
    throw new ConnectError(
      "too many simultaneous requests of this workspace: try again",
      Code.ResourceExhausted,
      headers,
    );
  }
}
