import { type CallOptions, Code, ConnectError } from "@connectrpc/connect";
import type { AuthorizeResponse } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { PRINCIPAL_HEADER } from "@toolgate/service-host/principal";
import type { FastifyReply, FastifyRequest } from "fastify";
import {
  CHAT_FORBIDDEN,
  CHAT_NOT_SAME_ORIGIN,
  CHAT_RATE_LIMITED,
  CHAT_UNAUTHENTICATED,
  CHAT_WORKSPACE_LOCKED,
  invalidChatRequest,
} from "../../domain/chat/chat-responses.ts";
import type { ParameterReader } from "../../domain/chat/parameters.ts";
import type { ApiResponse } from "../../domain/responses.ts";
import { sendResponse } from "../key-api.ts";
import { memberRoleOf } from "../sessions/login-of-request.ts";
import { whenClosed } from "../slots.ts";
import type { ChatLogin } from "./chat-login.ts";
import type { ChatContext } from "./context.ts";
import { allowOrigin } from "./cors.ts";
import { repeated } from "./upstream.ts";

/** A request that may go on to chat. */
export interface Admitted {
  workspaceId: string;
  /** Fires when the client has disconnected. */
  signal: AbortSignal;
  /**
   * Makes a call of chat for the user, which may be made again. Rejects as `Authorize` does when the user has lost the access
   * meanwhile.
   */
  call<T>(make: (options: CallOptions) => Promise<T>, limits?: { timeoutMs: number }): Promise<T>;
}

interface Question {
  login: ChatLogin | undefined;
  /** The parameters have been read. Undefined without a login. */
  reader: ParameterReader | undefined;
  /** The request may stay open for long, so it counts as an open stream or a waiting message. */
  occupies?: boolean;
}

/** Less than the 30 s for which key-auth promises that it is valid. */
const PRINCIPAL_REUSED_FOR_MS = 20_000;

/** [CHAT] Refuses in this order: 401, 400, 403, 429. Undefined when a refusal has been sent. */
export async function admit(
  context: ChatContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { login, reader, occupies = false }: Question,
): Promise<Admitted | undefined> {
  const signal = whenClosed(reply.raw);
  const user = login && reader && (await authorize(context, signal, login.token, reader.tenant));
  const refusal = refusalOf(login, user, reader?.fault);
  await allowOrigin(context, request, reply, user?.workspaceId ?? "");
  if (refusal || !user) {
    sendResponse(reply, refusal ?? CHAT_UNAUTHENTICATED);
    return undefined;
  }
  const { userId, workspaceId } = user;
  if (occupies && !countAnswer(context, reply, userId, workspaceId)) {
    sendResponse(reply, CHAT_RATE_LIMITED);
    return undefined;
  }
  const question = { token: login?.token ?? "", workspace: user.workspace };
  const headers = principalHeaders(context, question, user.principal);
  return {
    workspaceId,
    signal,
    call: (make, limits) => repeated(async () => make({ headers: await headers(), signal, ...limits }), signal),
  };
}

/** Asks again once the principal may have expired: a stream may be opened again hours later, at another chat process. */
function principalHeaders(
  { authorize: ask }: ChatContext,
  question: { token: string; workspace: string },
  first: string,
): () => Promise<Record<string, string>> {
  let principal = first;
  let askedAtMs = performance.now();
  return async () => {
    if (performance.now() - askedAtMs > PRINCIPAL_REUSED_FOR_MS) {
      ({ principal } = await ask(question));
      askedAtMs = performance.now();
    }
    return { [PRINCIPAL_HEADER]: principal };
  };
}

/** Counts an answer until its response ends. False when there are too many. */
function countAnswer({ answers }: ChatContext, { raw }: FastifyReply, userId: string, workspaceId: string): boolean {
  // The client disconnected while its login was checked, so no close event will follow.
  if (raw.destroyed) return true;
  const answer = answers.open(userId, workspaceId);
  if (answer) raw.once("close", () => answer[Symbol.dispose]());
  return answer !== undefined;
}

/** `workspaceId` is empty when the user has no access to the workspace. */
type User = Pick<AuthorizeResponse, "userId" | "workspaceId" | "workspace" | "role" | "workspaceLocked" | "principal">;

const NO_ACCESS: User = { userId: "", workspaceId: "", workspace: "", role: 0, workspaceLocked: false, principal: "" };

/** Undefined when the token is not valid. */
async function authorize(
  { authorize: ask }: ChatContext,
  signal: AbortSignal,
  token: string,
  tenant: string,
): Promise<User | undefined> {
  // Postgres cannot store NUL, so there is no such workspace.
  const workspace = tenant.includes("\0") ? "" : tenant.toWellFormed();
  try {
    return await repeated(() => ask({ token, workspace }), signal);
  } catch (error) {
    const { code } = ConnectError.from(error);
    if (code === Code.Unauthenticated) return undefined;
    if (code === Code.NotFound) return NO_ACCESS;
    throw error;
  }
}

function refusalOf(
  login: ChatLogin | undefined,
  user: User | undefined,
  fault: string | undefined,
): ApiResponse | undefined {
  if (!login || !user) return CHAT_UNAUTHENTICATED;
  if (fault !== undefined) return invalidChatRequest(fault);
  if (!login.isProven) return CHAT_NOT_SAME_ORIGIN;
  if (user.workspaceId === "" || !memberRoleOf(user.role)) return CHAT_FORBIDDEN;
  return user.workspaceLocked ? CHAT_WORKSPACE_LOCKED : undefined;
}
