import { EVENT_TYPES_PATH } from "@toolgate/event-schemas/catalogue";
import { DECLARATIONS_PATH, OPENAPI_PATH } from "./description-routes.ts";
import { MCP_PATH } from "./mcp-routes.ts";
import { TOOLS_PATH } from "./tool-routes.ts";
import { isWebhookPullPath } from "./webhook-pull-routes.ts";

/** The one method of a path of the key API; undefined for any other path. */
export function allowedMethod(url: string): string | undefined {
  if (url.startsWith(TOOLS_PATH)) return "POST";
  const path = url.split("?", 1)[0];
  if (path === MCP_PATH || (path !== undefined && isWebhookPullPath(path))) return "POST";
  if (path === EVENT_TYPES_PATH || path?.startsWith(`${EVENT_TYPES_PATH}/`)) return "GET";
  return path === OPENAPI_PATH || path === DECLARATIONS_PATH ? "GET" : undefined;
}
