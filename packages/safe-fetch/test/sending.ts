import type { SafeFetchOptions } from "../src/fetch.ts";
import { createSafeFetch } from "../src/fetch.ts";
import type { SendRequest } from "../src/send.ts";

/** A SafeFetch that may reach loopback. */
export function loopbackFetch(options: Partial<SafeFetchOptions> = {}) {
  return createSafeFetch({
    allowList: ["127.0.0.0/8", "::1"],
    applicationHosts: ["app.example.com"],
    schemes: ["https:", "http:"],
    ...options,
  });
}

/** A small POST with generous limits, changed as the test needs. */
export function post(url: string, changes: Partial<SendRequest> = {}): SendRequest {
  return {
    url,
    method: "POST",
    workspaceId: "w",
    headers: { "content-type": "application/json" },
    body: '{"a":1}',
    deadlineMs: 30_000,
    maxResponseBytes: 65_536,
    ...changes,
  };
}
