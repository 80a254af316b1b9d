import type { ServerResponse } from "node:http";
import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { Access } from "@toolgate/gen/toolgate/options/v1/access_pb";
import { accessOf } from "@toolgate/service-host/access";
import type { Logger } from "@toolgate/service-host/logger";
import type { FastifyReply, FastifyRequest } from "fastify";
import { MAX_BYTES_READ_FIRST, saysAtMost } from "../request-bytes.ts";
import { loginOfRequest, memberRoleOf } from "../sessions/login-of-request.ts";
import { whenClosed } from "../slots.ts";
import { upstreamResponse } from "../upstream-response.ts";
import { parseRequest, readJson, workspaceIn } from "./json-body.ts";

/** A management request of somebody who may make it. */
export interface AdmittedRequest {
  /** Both are empty for RPCs that need no login. `principal`: as key-auth has signed it. */
  workspaceId: string;
  principal: string;
  /** JSON, of which nothing has been made yet. */
  body: Uint8Array;
  response: ServerResponse;
}

/** Rejects with the error for the caller, whose request may still be arriving then. */
export type Admit = (method: DescMethod, request: FastifyRequest, reply: FastifyReply) => Promise<AdmittedRequest>;

/** Of requests that need no login, such as a login itself: passwords and tokens in any spelling. */
const MAX_PUBLIC_BYTES = MAX_BYTES_READ_FIRST;
export const MAX_BYTES = 2 * 1024 * 1024;

/** Finds out who calls. A large or compressed body is read only for a valid login, because strangers can send many. */
export function createAdmit(keyAuth: Transport, log: Logger): Admit {
  const sessions = createClient(SessionService, keyAuth);
  return async (method, request, { raw: response }) => {
    if (accessOf(method) === Access.PUBLIC) {
      return { workspaceId: "", principal: "", body: await readJson(request, MAX_PUBLIC_BYTES), response };
    }
    const upstream = { signal: whenClosed(response), log };
    const token = tokenOf(request);
    if (!saysAtMost(request, MAX_BYTES_READ_FIRST)) await upstreamResponse(sessions.getSession({ token }), upstream);
    const body = await readJson(request, MAX_BYTES);
    const workspace = workspaceIn(parseRequest(method.input, body));
    const user = await upstreamResponse(sessions.authorize({ token, workspace }), upstream);
    if (!memberRoleOf(user.role)) throw new ConnectError("your role does not permit this", Code.PermissionDenied);
    return { workspaceId: user.workspaceId, principal: user.principal, body, response };
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
