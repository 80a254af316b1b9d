import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import {
  type Membership,
  type Session,
  type SessionService,
  TokenKind,
} from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { canonicalIp } from "@toolgate/ip-address/ip-address";
import { isJsonObject } from "@toolgate/rules/json-object";
import { CLIENT_ADDRESS_HEADER } from "@toolgate/service-host/principal";
import type { Logger } from "@toolgate/service-host/process/logger";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { jsonValue } from "../../domain/json-values.ts";
import {
  type ApiResponse,
  BAD_REQUEST,
  CSRF_TOKEN_MISSING,
  INTERNAL_ERROR,
  LOGIN_REFUSED,
  LOGIN_REQUIRED,
  NOT_FOUND,
  RETRY_AFTER_HEADER,
  success,
  tooManyLogins,
} from "../../domain/responses.ts";
import {
  clearedCookie,
  cookieToken,
  csrfTokenOf,
  deviceCookie,
  deviceToken,
  sessionCookie,
} from "../../domain/session-cookie.ts";
import { containsNul } from "../../domain/text.ts";
import { sendResponse } from "../key-api.ts";
import { whenClosed } from "../slots.ts";
import { isSecure, loginOfRequest, memberRoleOf } from "./login-of-request.ts";

interface SessionOptions {
  sessions: Client<typeof SessionService>;
  log: Logger;
  now: () => number;
}

type SessionHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<ApiResponse>;
type TokenHandler = (token: string, request: FastifyRequest, reply: FastifyReply) => Promise<ApiResponse>;

const SESSION_PATH = "/session";
const PASSWORD_PATH = "/session/password";
/** All sessions of the user. */
const SESSIONS_PATH = "/sessions";
const KEY_SET_PATH = "/.well-known/jwks.json";
const MAX_BODY_BYTES = 16 * 1024;
const TIMEOUT_MS = 20_000;
const KEY_SET_MAX_AGE_SECONDS = 300;

/** The session of the web page: starts with a login and is carried by a cookie that scripts cannot read. */
export function sessionRoutes({ sessions, log, now }: SessionOptions) {
  const expiryOf = (expiresAt: Timestamp | undefined) => (expiresAt ? timestampDate(expiresAt) : new Date(now()));

  const logIn: SessionHandler = async (request, reply) => {
    const { email, password } = bodyOf(request);
    if (!isText(email) || !isText(password)) return BAD_REQUEST;
    const secure = isSecure(request);
    const device = request.headers["user-agent"] ?? "";
    const credentials = { email, password, deviceToken: deviceToken(request.headers.cookie, secure), device };
    const session = await sessions.login(credentials, callOptions(request, reply));
    const { token, memberships } = session;
    const expires = expiryOf(session.expiresAt);
    const maxAgeSeconds = Math.max(0, Math.floor((expires.getTime() - now()) / 1000));
    const cookies = [sessionCookie(token, { secure, maxAgeSeconds })];
    if (session.deviceToken !== "") cookies.push(deviceCookie(session.deviceToken, secure));
    reply.header("set-cookie", cookies);
    return success(200, described({ token, email, expires, memberships }));
  };

  const showSession: TokenHandler = async (token) => {
    const { email, expiresAt, memberships } = await sessions.getSession({ token });
    return success(200, described({ token, email, expires: expiryOf(expiresAt), memberships }));
  };

  const logOut: SessionHandler = async (request, reply) => {
    const login = loginOfRequest(request);
    if (login.kind === "without-csrf-token") return CSRF_TOKEN_MISSING;
    if (login.kind === "token") {
      await sessions.logout({ token: login.token }).catch((error: unknown) => {
        if (ConnectError.from(error).code !== Code.Unauthenticated) throw error;
      });
    }
    reply.header("set-cookie", clearedCookie(isSecure(request)));
    return success(200, {});
  };

  const changePassword: TokenHandler = async (token, request, reply) => {
    const { current_password: currentPassword, new_password: newPassword } = bodyOf(request);
    if (!isText(currentPassword) || !isText(newPassword)) return BAD_REQUEST;
    await sessions.changePassword({ token, currentPassword, newPassword }, callOptions(request, reply));
    return success(200, {});
  };

  const listSessions: TokenHandler = async (token) => {
    const listed = await sessions.listSessions({ token });
    return success(200, { sessions: listed.sessions.map(listedSession) });
  };

  const endSession: TokenHandler = async (token, request) => {
    const { id: sessionId } = request.params as { id: string };
    await sessions.endSession({ token, sessionId });
    return success(200, {});
  };

  const endOtherSessions: TokenHandler = async (token) => {
    await sessions.endOtherSessions({ token });
    return success(200, {});
  };

  /** `unauthenticated`: the response when the session or the password is not valid. */
  const responder = (handler: SessionHandler, unauthenticated: ApiResponse) => {
    return async (request: FastifyRequest, reply: FastifyReply) => {
      const refused = (error: unknown) => refusalOf(error, unauthenticated, log);
      return sendResponse(reply, await handler(request, reply).catch(refused));
    };
  };

  return async (app: FastifyInstance): Promise<void> => {
    app.addHook("onRequest", async (_, reply) => void reply.header("cache-control", "no-store"));
    app.removeAllContentTypeParsers();
    // Accepts only JSON: pages of other sites cannot send it without a preflight, which no response permits.
    app.addContentTypeParser("application/json", { parseAs: "buffer", bodyLimit: MAX_BODY_BYTES }, (_, body, done) =>
      done(null, jsonValue(body as Buffer)),
    );
    app.post(SESSION_PATH, responder(logIn, LOGIN_REFUSED));
    app.get(SESSION_PATH, responder(reading(showSession), LOGIN_REQUIRED));
    app.delete(SESSION_PATH, responder(logOut, LOGIN_REFUSED));
    app.post(PASSWORD_PATH, responder(changing(changePassword), LOGIN_REFUSED));
    app.get(SESSIONS_PATH, responder(reading(listSessions), LOGIN_REQUIRED));
    app.delete(SESSIONS_PATH, responder(changing(endOtherSessions), LOGIN_REQUIRED));
    app.delete(`${SESSIONS_PATH}/:id`, responder(changing(endSession), LOGIN_REQUIRED));
    // The public keys of the tokens that programs get for a login.
    app.get(KEY_SET_PATH, async (_, reply) => {
      const { jwksJson } = await sessions.getKeySet({});
      reply.header("cache-control", `public, max-age=${KEY_SET_MAX_AGE_SECONDS}`);
      return reply.header("content-type", "application/jwk-set+json").send(jwksJson);
    });
  };
}

/** Needs no CSRF token: a page that was reloaded gets its token here. */
function reading(handler: TokenHandler): SessionHandler {
  return async (request, reply) => {
    const token = cookieToken(request.headers.cookie, isSecure(request));
    return token === undefined ? LOGIN_REQUIRED : handler(token, request, reply);
  };
}

function changing(handler: TokenHandler): SessionHandler {
  return async (request, reply) => {
    const login = loginOfRequest(request);
    if (login.kind === "without-csrf-token") return CSRF_TOKEN_MISSING;
    return login.kind === "none" ? LOGIN_REQUIRED : handler(login.token, request, reply);
  };
}

/** What is missing leads to a 400. */
function bodyOf({ body }: FastifyRequest): Record<string, unknown> {
  return isJsonObject(body) ? body : {};
}

function described(session: { token: string; email: string; expires: Date; memberships: Membership[] }) {
  return {
    email: session.email,
    expires_at: session.expires.toISOString(),
    csrf_token: csrfTokenOf(session.token),
    memberships: session.memberships.map(({ workspace, role }) => ({ workspace, role: memberRoleOf(role) ?? "" })),
  };
}

function listedSession({ id, tokenKind, device, address, startedAt, lastUsedAt, expiresAt, isCurrent }: Session) {
  const iso = (at: Timestamp | undefined) => at && timestampDate(at).toISOString();
  return {
    id,
    kind: tokenKind === TokenKind.JWT ? "jwt" : "session",
    device,
    address,
    started_at: iso(startedAt),
    last_used_at: iso(lastUsedAt),
    expires_at: iso(expiresAt),
    is_current: isCurrent,
  };
}

/** key-auth counts failed logins by address, and ends a login that waits when the caller disconnects. */
function callOptions({ ip }: FastifyRequest, { raw }: FastifyReply) {
  return { headers: { [CLIENT_ADDRESS_HEADER]: canonicalIp(ip) }, signal: whenClosed(raw), timeoutMs: TIMEOUT_MS };
}

/** A string that Postgres can store. */
function isText(value: unknown): value is string {
  return typeof value === "string" && !containsNul(value);
}

function refusalOf(error: unknown, unauthenticated: ApiResponse, log: Logger): ApiResponse {
  const { code, metadata } = ConnectError.from(error);
  switch (code) {
    case Code.Unauthenticated:
      return unauthenticated;
    case Code.ResourceExhausted:
      return tooManyLogins(metadata.get(RETRY_AFTER_HEADER));
    case Code.InvalidArgument:
      return BAD_REQUEST;
    case Code.NotFound:
      return NOT_FOUND;
    case Code.Canceled:
      // Nobody reads this: the caller has disconnected.
      return INTERNAL_ERROR;
    default:
      log.error({ err: error }, "session request failed unexpectedly");
      return INTERNAL_ERROR;
  }
}
