import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Membership, Role } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { Logger } from "@toolgate/service-host/logger";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Sessions } from "../clients/sessions.ts";
import type { Answer } from "../domain/answers.ts";
import { canonicalIp } from "../domain/canonical-ip.ts";
import { isJsonObject } from "../domain/json-schema.ts";
import {
  BAD_LOGIN_REQUEST,
  CSRF_TOKEN_MISSING,
  LOGIN_REFUSED,
  LOGIN_REQUIRED,
  SESSION_FAILED,
  sessionAnswer,
  tooManyLogins,
} from "../domain/session-answers.ts";
import { clearedCookie, cookieToken, csrfTokenOf, sessionCookie } from "../domain/session-cookie.ts";
import { CLIENT_ADDRESS_HEADER, isSecure, loginOfRequest } from "./login-of-request.ts";
import { sendAnswer } from "./reply.ts";
import { RETRY_AFTER_HEADER } from "./upstream-answer.ts";

export interface SessionDependencies {
  sessions: Sessions;
  log: Logger;
  now: () => number;
}

const SESSION_PATH = "/session";
const PASSWORD_PATH = "/session/password";
const KEY_SET_PATH = "/.well-known/jwks.json";
const MAX_BODY_BYTES = 16 * 1024;
const KEY_SET_MAX_AGE_SECONDS = 300;

const ROLE_NAMES: Partial<Record<Role, string>> = {
  [Role.MEMBER]: "member",
  [Role.MANAGER]: "manager",
  [Role.ADMIN]: "admin",
};

/** The session of the web page: begun by a login, carried by a cookie that scripts cannot read. */
export function sessionRoutes(deps: SessionDependencies) {
  return async (app: FastifyInstance): Promise<void> => {
    app.addHook("onRequest", async (_, reply) => void reply.header("cache-control", "no-store"));
    app.setErrorHandler((error: { statusCode?: number }, request, reply) => {
      const status = error.statusCode ?? 500;
      return sendAnswer(reply, status < 500 ? BAD_LOGIN_REQUEST : failure(deps.log, error, request.method));
    });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("application/json", { parseAs: "string", bodyLimit: MAX_BODY_BYTES }, (_, body, done) =>
      done(null, parsed(body.toString())),
    );
    app.post(SESSION_PATH, (request, reply) => logIn(deps, request, reply));
    app.get(SESSION_PATH, (request, reply) => showSession(deps, request, reply));
    app.delete(SESSION_PATH, (request, reply) => logOut(deps, request, reply));
    app.post(PASSWORD_PATH, (request, reply) => changePassword(deps, request, reply));
    app.get(KEY_SET_PATH, (_, reply) => showKeySet(deps, reply));
  };
}

/** Only JSON logs in: other pages cannot send it without asking first, and no answer permits it. */
async function logIn(deps: SessionDependencies, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { email, password } = isJsonObject(request.body) ? request.body : {};
  if (typeof email !== "string" || typeof password !== "string") return sendAnswer(reply, BAD_LOGIN_REQUEST);
  const begun = await deps.sessions
    .login({ email, password }, { headers: addressHeader(request) })
    .catch((error: unknown) => refusalOf(deps.log, error));
  if ("status" in begun) return sendAnswer(reply, begun);
  const { token, expiresAt, memberships } = begun;
  const expires = expiresAt ? timestampDate(expiresAt) : new Date(deps.now());
  const maxAgeSeconds = Math.max(0, Math.floor((expires.getTime() - deps.now()) / 1000));
  reply.header("set-cookie", sessionCookie(token, { secure: isSecure(request), maxAgeSeconds }));
  return sendAnswer(reply, sessionAnswer(200, described({ token, email, expires, memberships })));
}

/** Reading needs no CSRF token: this is where a page that was loaded anew gets it. */
async function showSession(
  deps: SessionDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const token = cookieToken(request.headers.cookie, isSecure(request));
  if (token === undefined) return sendAnswer(reply, LOGIN_REQUIRED);
  const session = await deps.sessions.getSession({ token }).catch((error: unknown) => refusalOf(deps.log, error));
  if ("status" in session) return sendAnswer(reply, session.status === 401 ? LOGIN_REQUIRED : session);
  const expires = session.expiresAt ? timestampDate(session.expiresAt) : new Date(deps.now());
  return sendAnswer(reply, sessionAnswer(200, described({ ...session, token, expires })));
}

async function logOut(deps: SessionDependencies, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const login = loginOfRequest(request);
  if (login.kind === "without-csrf-token") return sendAnswer(reply, CSRF_TOKEN_MISSING);
  if (login.kind === "token") {
    const ended = await deps.sessions
      .logout({ token: login.token })
      .catch((error: unknown) => refusalOf(deps.log, error));
    if ("status" in ended && ended.status !== 401) return sendAnswer(reply, ended);
  }
  reply.header("set-cookie", clearedCookie(isSecure(request)));
  return sendAnswer(reply, sessionAnswer(200, {}));
}

async function changePassword(deps: SessionDependencies, request: FastifyRequest, reply: FastifyReply) {
  const login = loginOfRequest(request);
  if (login.kind === "none") return sendAnswer(reply, LOGIN_REQUIRED);
  if (login.kind === "without-csrf-token") return sendAnswer(reply, CSRF_TOKEN_MISSING);
  const { current_password: currentPassword, new_password: newPassword } = isJsonObject(request.body)
    ? request.body
    : {};
  if (typeof currentPassword !== "string" || typeof newPassword !== "string")
    return sendAnswer(reply, BAD_LOGIN_REQUEST);
  const changed = await deps.sessions
    .changePassword({ token: login.token, currentPassword, newPassword }, { headers: addressHeader(request) })
    .catch((error: unknown) => refusalOf(deps.log, error));
  return sendAnswer(reply, "status" in changed ? changed : sessionAnswer(200, {}));
}

/** The public keys of the JWTs that logins for programs get. */
async function showKeySet(deps: SessionDependencies, reply: FastifyReply): Promise<FastifyReply> {
  const { jwksJson } = await deps.sessions.getKeySet({});
  reply.header("cache-control", `public, max-age=${KEY_SET_MAX_AGE_SECONDS}`);
  return reply.header("content-type", "application/jwk-set+json").send(jwksJson);
}

/** Undefined is refused where a body is needed. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function described(session: { token: string; email: string; expires: Date; memberships: Membership[] }) {
  return {
    email: session.email,
    expires_at: session.expires.toISOString(),
    csrf_token: csrfTokenOf(session.token),
    memberships: session.memberships.map(({ workspace, role }) => ({ workspace, role: ROLE_NAMES[role] ?? "" })),
  };
}

/** Failed logins are counted by it. */
function addressHeader(request: FastifyRequest): Record<string, string> {
  return { [CLIENT_ADDRESS_HEADER]: canonicalIp(request.ip) };
}

function refusalOf(log: Logger, error: unknown): Answer {
  const { code, metadata } = ConnectError.from(error);
  switch (code) {
    case Code.Unauthenticated:
      return LOGIN_REFUSED;
    case Code.ResourceExhausted:
      return tooManyLogins(metadata.get(RETRY_AFTER_HEADER));
    case Code.InvalidArgument:
      return BAD_LOGIN_REQUEST;
    default:
      return failure(log, error, "session");
  }
}

function failure(log: Logger, error: unknown, what: string): Answer {
  log.error({ err: error, what }, "session request failed unexpectedly");
  return SESSION_FAILED;
}
