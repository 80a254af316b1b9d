import { isPublicAddress } from "./address.ts";
import { parseAllowList } from "./allow-list.ts";
import { checkTarget, type Resolver } from "./resolve.ts";
import { createSystemResolver } from "./system-resolver.ts";
import { parseTargetUrl, type TargetUrlFailure } from "./target-url.ts";

/** Checks a URL when it is saved: its parts, or the rule it breaks, after the field's name. Each request checks it again. */
export type CheckUrl = (
  text: string,
  workspaceId: string,
) => Promise<{ ok: true; url: URL } | { ok: false; violation: string }>;

export interface CheckUrlOptions {
  /** Of the request that saves the URL. */
  field: string;
  /** Names and addresses of this installation, which no URL may point to. [SSRF-3] */
  applicationHosts: readonly string[];
  /** Non-public addresses that are allowed during development. */
  allowedTargets: readonly string[];
  /** Whether those addresses may be reached over http. */
  allowsHttp?: boolean;
  resolver?: Resolver;
}

const RESOLVE_WITHIN_MS = 5_000;

const VIOLATIONS: Record<TargetUrlFailure, string> = {
  "too-long": "at most 2048 characters",
  "forbidden-character": "no whitespace, control characters or backslashes",
  malformed: "not a URL",
  scheme: "only https",
  userinfo: "no credentials in the URL",
  host: "not a valid host",
  port: "not a valid port",
  "application-host": "must not point to this service",
};

/** [SSRF-1..4] Only https, except to allowed addresses if `allowsHttp` is set. */
export function createUrlCheck({
  field,
  applicationHosts,
  allowedTargets,
  allowsHttp = false,
  resolver = createSystemResolver(),
}: CheckUrlOptions): CheckUrl {
  const allowList = parseAllowList(allowedTargets);
  const schemes = allowsHttp ? (["https:", "http:"] as const) : (["https:"] as const);
  const refuse = (violation: string) => ({ ok: false as const, violation: `${field}: ${violation}` });
  return async (text, workspaceId) => {
    const parsed = parseTargetUrl(text, { applicationHosts, schemes });
    if (!parsed.ok) return refuse(VIOLATIONS[parsed.reason]);
    const { url } = parsed;
    const signal = AbortSignal.timeout(RESOLVE_WITHIN_MS);
    const target = await checkTarget(parsed, { resolver, allowList, workspaceId, signal });
    if (!target.ok)
      return refuse(target.reason === "blocked" ? "target address not allowed" : "the host does not resolve");
    if (url.protocol === "http:" && target.addresses.some(isPublicAddress)) return refuse(VIOLATIONS.scheme);
    return { ok: true, url };
  };
}
