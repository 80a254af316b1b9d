import type { FastifyRequest } from "fastify";
import { CSRF_HEADER, type Login, loginOf } from "../../domain/session-cookie.ts";

export function isSecure(request: FastifyRequest): boolean {
  return request.protocol === "https";
}

/** The login that a request carries, if any. */
export function loginOfRequest(request: FastifyRequest): Login {
  const { authorization, cookie, [CSRF_HEADER]: csrfToken } = request.headers;
  return loginOf({
    authorization,
    cookie,
    csrfToken: typeof csrfToken === "string" ? csrfToken : undefined,
    secure: isSecure(request),
  });
}
