import { EVENT_TYPES_PATH } from "@toolgate/event-schemas/catalogue";
import { CHAT_METHOD_NOT_ALLOWED } from "../domain/chat/chat-responses.ts";
import { type ApiResponse, METHOD_NOT_ALLOWED, NOT_FOUND } from "../domain/responses.ts";

export const TOOLS_PATH = "/api/v1/tools/";
export const HOOKS_PATH = "/api/v1/hooks/";
export const OPENAPI_PATH = "/api/v1/openapi.json";
export const DECLARATIONS_PATH = "/api/v1/openapi.d.ts";
export const MCP_PATH = "/mcp";
/** The console: its pages and files are below it. */
export const CONSOLE_PATH = "/manage/";
/** The documentation, where `make docs` has built it. */
export const DOCS_PATH = "/docs/";

/** [CHAT-2] The paths of chats, each with its one method. */
export const CHAT_PATHS = {
  "/chat/index": "POST",
  "/chat/stream": "GET",
  "/chat/resume": "GET",
  "/chat/history": "GET",
  "/chat/reset": "POST",
  "/chat/stop": "POST",
} as const;

/** Code for browsers, as packages/chat-widget builds it. */
export const CHAT_FILES: Readonly<Record<string, string>> = {
  "/chat/widget.js": "widget.js",
  "/chat/client.js": "client.js",
};

export type ChatPath = keyof typeof CHAT_PATHS;

/** Whether this routable target is a path of chats. */
export function isChatTarget(url: string): boolean {
  const path = pathOf(url);
  return Object.hasOwn(CHAT_PATHS, path) || Object.hasOwn(CHAT_FILES, path);
}

/** Whether a hook may be at this routable target. */
export function isHookTarget(url: string): boolean {
  return pathOf(url).startsWith(HOOKS_PATH);
}

/** The one method of a path that has only one; undefined for any other path. `url` is a routable target. */
export function allowedMethod(url: string): "GET" | "POST" | undefined {
  const path = pathOf(url);
  if (path.startsWith(TOOLS_PATH) || path.startsWith(HOOKS_PATH) || path === MCP_PATH) return "POST";
  if (path.startsWith(CONSOLE_PATH) || path.startsWith(DOCS_PATH)) return "GET";
  if (path === EVENT_TYPES_PATH || path.startsWith(`${EVENT_TYPES_PATH}/`)) return "GET";
  if (Object.hasOwn(CHAT_PATHS, path)) return CHAT_PATHS[path as ChatPath];
  if (Object.hasOwn(CHAT_FILES, path)) return "GET";
  return path === OPENAPI_PATH || path === DECLARATIONS_PATH ? "GET" : undefined;
}

/** [ERR-13] [ERR-14] The response to a request that no route takes: its path is unknown, or has only another method. */
export function unroutedResponse(url: string): ApiResponse {
  const allow = allowedMethod(url);
  if (!allow) return NOT_FOUND;
  return { ...(isChatTarget(url) ? CHAT_METHOD_NOT_ALLOWED : METHOD_NOT_ALLOWED), headers: { Allow: allow } };
}

function pathOf(url: string): string {
  return decodeURI(url.split(/[?#]/, 1)[0] ?? "");
}
