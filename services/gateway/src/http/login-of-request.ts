import { type ContextValues, createContextKey, createContextValues } from "@connectrpc/connect";
import type { FastifyRequest } from "fastify";
import { canonicalIp } from "../domain/canonical-ip.ts";
import { CSRF_HEADER, type Login, loginOf } from "../domain/session-cookie.ts";

/** Tells services the address of the caller; they believe it because of the internal token beside it. */
export const CLIENT_ADDRESS_HEADER = "toolgate-client-address";

const loginKey = createContextKey<Login>({ kind: "none" });
const addressKey = createContextKey("");

export function isSecure(request: FastifyRequest): boolean {
  return request.protocol === "https";
}

/** Who a request says it comes from. */
export function loginOfRequest(request: FastifyRequest): Login {
  const { authorization, cookie } = request.headers;
  const csrfToken = request.headers[CSRF_HEADER];
  return loginOf({
    authorization,
    cookie,
    csrfToken: typeof csrfToken === "string" ? csrfToken : undefined,
    secure: isSecure(request),
  });
}

/** Carries the caller's login and address to the handlers of management RPCs. */
export function callerOfRequest(request: FastifyRequest): ContextValues {
  return createContextValues().set(loginKey, loginOfRequest(request)).set(addressKey, canonicalIp(request.ip));
}

export function loginIn(values: ContextValues): Login {
  return values.get(loginKey);
}

export function addressIn(values: ContextValues): string {
  return values.get(addressKey);
}
