import { createHmac, timingSafeEqual } from "node:crypto";
import { parseCookie, stringifySetCookie } from "cookie";
import { bearerToken } from "./request-headers.ts";

/** With this prefix browsers accept the cookie only if it is secure and limited to this host. */
const SECURE_PREFIX = "__Host-";
const SESSION = "toolgate_session";
const DEVICE = "toolgate_device";
/** As long as key-auth knows a device. */
const DEVICE_MAX_AGE_SECONDS = 90 * 86_400;
const CSRF_PURPOSE = "toolgate csrf 1";

/** Carries the CSRF token that a request with the cookie needs. */
const CSRF_HEADER = "x-csrf-token";

/** The Set-Cookie header that starts a session. Scripts cannot read the cookie. */
export function sessionCookie(
  token: string,
  { secure, maxAgeSeconds }: { secure: boolean; maxAgeSeconds: number },
): string {
  return cookie(SESSION, token, secure, maxAgeSeconds);
}

/** The Set-Cookie header that ends a session. */
export function clearedCookie(secure: boolean): string {
  return sessionCookie("", { secure, maxAgeSeconds: 0 });
}

/** The session token in a Cookie header. Over https the unprefixed name is ignored, because other hosts could set it. */
export function cookieToken(header: string | undefined, secure: boolean): string | undefined {
  return parseCookie(header ?? "")[nameOf(SESSION, secure)] || undefined;
}

/** The Set-Cookie header by which later logins from this browser are recognised. It stays after a logout. */
export function deviceCookie(token: string, secure: boolean): string {
  return cookie(DEVICE, token, secure, DEVICE_MAX_AGE_SECONDS);
}

/** The device token in a Cookie header; "" if there is none. */
export function deviceToken(header: string | undefined, secure: boolean): string {
  return parseCookie(header ?? "")[nameOf(DEVICE, secure)] ?? "";
}

function nameOf(name: string, secure: boolean): string {
  return secure ? SECURE_PREFIX + name : name;
}

/** Scripts and other sites cannot use it. */
function cookie(name: string, value: string, secure: boolean, maxAge: number): string {
  const attributes = { httpOnly: true, sameSite: "strict", path: "/", secure, maxAge } as const;
  return stringifySetCookie({ name: nameOf(name, secure), value, ...attributes });
}

/**
 * The page sends this token to prove that it made the request. It belongs to one session, and only the page can read
 * it.
 */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac("sha256", sessionToken).update(CSRF_PURPOSE).digest("base64url");
}

interface LoginHeaders {
  authorization?: string | undefined;
  cookie?: string | undefined;
  [CSRF_HEADER]?: string | string[] | undefined;
}

export type Login = { kind: "token" | "without-csrf-token"; token: string } | { kind: "none" };

/**
 * The credential of a request. A program sends a bearer token deliberately, but a browser adds a cookie to any request, so a
 * cookie counts only together with the CSRF token.
 */
export function loginOf(headers: LoginHeaders, secure: boolean): Login {
  const { authorization, [CSRF_HEADER]: csrfToken } = headers;
  if (authorization !== undefined) {
    const token = bearerToken(authorization);
    return token === undefined ? { kind: "none" } : { kind: "token", token };
  }
  const token = cookieToken(headers.cookie, secure);
  if (token === undefined) return { kind: "none" };
  const isProven = equal(String(csrfToken ?? ""), csrfTokenOf(token));
  return { kind: isProven ? "token" : "without-csrf-token", token };
}

function equal(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
