import type { ConnectRouter } from "@connectrpc/connect";
import type { Context } from "../context.ts";

export function registerRoutes(_router: ConnectRouter, _context: Context): void {}
