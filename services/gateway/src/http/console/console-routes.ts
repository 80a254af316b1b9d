import { fileURLToPath } from "node:url";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import type { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { pageAccess } from "../../domain/console-pages.ts";
import { NOT_FOUND } from "../../domain/responses.ts";
import { cookieToken } from "../../domain/session-cookie.ts";
import { sendResponse } from "../key-api.ts";
import { CONSOLE_PATH } from "../paths.ts";
import { isSecure } from "../sessions/login-of-request.ts";
import { whenClosed } from "../slots.ts";
import { readStaticFiles, sendFile } from "../static-files.ts";

const FOLDER = fileURLToPath(new URL("./built/", import.meta.resolve("@toolgate/console/index.html")));
const TIMEOUT_MS = 10_000;
const ASSETS = `${CONSOLE_PATH}assets/`;
const LOGIN = `${CONSOLE_PATH}login`;
/** Pages for people who are not signed in: those that links lead to have their token in the fragment, which is not sent. */
const PUBLIC_PAGES = [LOGIN, `${CONSOLE_PATH}reference`, `${CONSOLE_PATH}join`, `${CONSOLE_PATH}new-password`];
const HEADERS = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    // HTML of assistants is the only text that becomes HTML: packages/chat-widget/src/browser/safe-html.ts.
    "trusted-types toolgate-chat",
  ].join("; "),
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

/** [MGMT-1] [WMGMT-1] The console's pages, all of which are one document, and its files, whose names have their hash. */
export function consoleRoutes(sessions: Client<typeof SessionService>) {
  /** The status of a page for this user; undefined sends them to the login. */
  async function statusOf(request: FastifyRequest, reply: FastifyReply): Promise<200 | 403 | undefined> {
    const token = cookieToken(request.headers.cookie, isSecure(request));
    if (token === undefined) return undefined;
    try {
      const options = { signal: whenClosed(reply.raw), timeoutMs: TIMEOUT_MS };
      const { memberships } = await sessions.getSession({ token }, options);
      return pageAccess(request.url, memberships) ? 200 : 403;
    } catch (error) {
      if (ConnectError.from(error).code === Code.Unauthenticated) return undefined;
      throw error;
    }
  }

  return async (app: FastifyInstance): Promise<void> => {
    const files = await readStaticFiles(FOLDER);
    const page = files.get("index.html");
    app.get(`${ASSETS}*`, (request, reply) => {
      const file = files.get(request.url.slice(CONSOLE_PATH.length).split("?", 1)[0] ?? "");
      if (!file) return sendResponse(reply, NOT_FOUND);
      return sendFile(request, reply.header("cache-control", "public, max-age=31536000, immutable"), file);
    });
    const showPage = async (request: FastifyRequest, reply: FastifyReply) => {
      if (!page) return sendResponse(reply, NOT_FOUND);
      reply.headers(HEADERS).header("cache-control", "no-store");
      if (PUBLIC_PAGES.includes(request.url.split("?", 1)[0] ?? "")) return sendFile(request, reply, page);
      const status = await statusOf(request, reply);
      if (status === undefined) return reply.redirect(`${LOGIN}?next=${encodeURIComponent(request.url)}`, 303);
      return sendFile(request, reply.code(status), page);
    };
    app.get(`${CONSOLE_PATH}*`, showPage);
    app.get(CONSOLE_PATH.slice(0, -1), (_, reply) => reply.redirect(CONSOLE_PATH, 308));
  };
}
