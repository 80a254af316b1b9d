import type { FastifyRequest } from "fastify";
import { loginOfRequest } from "../sessions/login-of-request.ts";

export interface ChatLogin {
  token: string;
  /** [CHAT-33] A browser adds the cookie to any request, so it needs a proof that one of our own pages made it. */
  isProven: boolean;
}

/** [CHAT-34] The login of a request; a token in the header decides, whatever the cookie is. */
export function chatLogin(request: FastifyRequest, { changesState }: { changesState: boolean }): ChatLogin | undefined {
  const login = loginOfRequest(request);
  if (login.kind === "none") return undefined;
  // A form of another site can make a POST, and no EventSource can send a CSRF token.
  const mayBeWithout = request.method === "GET" && (!changesState || isOfOwnScript(request));
  return { token: login.token, isProven: login.kind === "token" || mayBeWithout };
}

/** A link that somebody is led to click is of the same origin too, but a navigation. */
function isOfOwnScript(request: FastifyRequest): boolean {
  const { "sec-fetch-site": site, "sec-fetch-mode": mode, origin, referer } = request.headers;
  if (site !== undefined) return site === "same-origin" && mode !== "navigate";
  const from = origin ?? referer;
  const own = `${request.protocol}://${request.host}`;
  return from !== undefined && (from === own || from.startsWith(`${own}/`));
}
