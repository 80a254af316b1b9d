import { createHmac, timingSafeEqual } from "node:crypto";
import { parseCookie, stringifySetCookie } from "cookie";
import { bearerToken } from "./bearer.ts";

/** The prefix makes browsers refuse the cookie unless it is secure and of this host alone. */
const SECURE_NAME = "__Host-toolgate_session";
const PLAIN_NAME = "toolgate_session";
const CSRF_PURPOSE = "toolgate csrf 1";

/** Carries the CSRF token of a request that the cookie authorises. */
export const CSRF_HEADER = "x-csrf-token";

const ATTRIBUTES = { httpOnly: true, sameSite: "strict", path: "/" } as const;

/** The Set-Cookie that begins a session. The page's own scripts cannot read it. */
export function sessionCookie(
  token: string,
  { secure, maxAgeSeconds }: { secure: boolean; maxAgeSeconds: number },
): string {
  const name = secure ? SECURE_NAME : PLAIN_NAME;
  return stringifySetCookie({ name, value: token, ...ATTRIBUTES, secure, maxAge: maxAgeSeconds });
}

/** The Set-Cookie that ends a session. */
export function clearedCookie(secure: boolean): string {
  return sessionCookie("", { secure, maxAgeSeconds: 0 });
}

/** The token of a session, from a Cookie header. Over https the unprotected name, which others could set, has no effect. */
export function cookieToken(header: string | undefined, secure: boolean): string | undefined {
  if (header === undefined) return undefined;
  return parseCookie(header)[secure ? SECURE_NAME : PLAIN_NAME] || undefined;
}

/** What the page sends along to show that the request is its own: bound to the session, and readable only by the page. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac("sha256", sessionToken).update(CSRF_PURPOSE).digest("base64url");
}

export interface LoginHeaders {
  authorization: string | undefined;
  cookie: string | undefined;
  csrfToken: string | undefined;
  /** The request came over https. */
  secure: boolean;
}

export type Login = { kind: "token"; token: string } | { kind: "none" } | { kind: "without-csrf-token" };

/**
 * Who a management call says it comes from. A bearer token is sent by programs on purpose; a cookie is sent by browsers
 * on their own, so it counts only together with the CSRF token.
 */
export function loginOf({ authorization, cookie, csrfToken, secure }: LoginHeaders): Login {
  if (authorization !== undefined) {
    const token = bearerToken(authorization);
    return token === undefined ? { kind: "none" } : { kind: "token", token };
  }
  const token = cookieToken(cookie, secure);
  if (token === undefined) return { kind: "none" };
  return equal(csrfToken ?? "", csrfTokenOf(token)) ? { kind: "token", token } : { kind: "without-csrf-token" };
}

function equal(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
