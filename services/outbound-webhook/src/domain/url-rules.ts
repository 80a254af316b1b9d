import { type AllowList, parseAllowList } from "@toolgate/safe-fetch/allow-list";
import { checkTarget, createSystemResolver, type Resolver } from "@toolgate/safe-fetch/resolve";
import { parseTargetUrl, type TargetUrlFailure } from "@toolgate/safe-fetch/target-url";

/** The outcome of the check of an endpoint's URL: the form to store, or what is wrong with it. */
export type UrlCheck = { ok: true; url: string } | { ok: false; fault: string };
export type CheckUrl = (text: string) => Promise<UrlCheck>;

export interface UrlRules {
  /** Names and addresses of this installation, which no endpoint may point to. [SSRF-3] */
  applicationHosts: readonly string[];
  /** Blocked addresses that are allowed all the same, in development. */
  allowedTargets: readonly string[];
  resolver?: Resolver;
}

const RESOLVE_WITHIN_MS = 5_000;

const FAULTS: Record<TargetUrlFailure, string> = {
  "too-long": "at most 2048 characters",
  "forbidden-character": "no whitespace, control characters or backslashes",
  malformed: "not a URL",
  scheme: "only https",
  userinfo: "no credentials in the URL",
  host: "not a valid host",
  port: "not a valid port",
  "application-host": "must not point to this service",
};

/** The check of an endpoint's URL when it is saved; sending repeats it. [SSRF-1..4] */
export function createUrlCheck({ applicationHosts, allowedTargets, resolver }: UrlRules): CheckUrl {
  const allowList: AllowList = parseAllowList(allowedTargets);
  const resolve = resolver ?? createSystemResolver();
  return async (text) => {
    const parsed = parseTargetUrl(text, { applicationHosts, schemes: ["https:"] });
    if (!parsed.ok) return { ok: false, fault: `url: ${FAULTS[parsed.reason]}` };
    const signal = AbortSignal.timeout(RESOLVE_WITHIN_MS);
    const target = await checkTarget(parsed, { resolver: resolve, allowList, signal });
    if (target.ok) return { ok: true, url: parsed.url.href };
    return {
      ok: false,
      fault: target.reason === "blocked" ? "url: target address not allowed" : "url: the host does not resolve",
    };
  };
}
