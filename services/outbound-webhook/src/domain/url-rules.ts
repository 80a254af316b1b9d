import { parseAllowList } from "@toolgate/safe-fetch/allow-list";
import { checkTarget, type Resolver } from "@toolgate/safe-fetch/resolve";
import { createSystemResolver } from "@toolgate/safe-fetch/system-resolver";
import { parseTargetUrl, type TargetUrlFailure } from "@toolgate/safe-fetch/target-url";

/** Checks an endpoint's URL when it is saved: the form to store, or the rule it breaks. Sending repeats the check. */
export type CheckUrl = (
  text: string,
  workspaceId: string,
) => Promise<{ ok: true; url: string } | { ok: false; violation: string }>;

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

/** [SSRF-1..4] */
export function createUrlCheck({
  applicationHosts,
  allowedTargets,
  resolver = createSystemResolver(),
}: {
  /** Names and addresses of this installation, which no endpoint may point to. [SSRF-3] */
  applicationHosts: readonly string[];
  /** Blocked addresses that are allowed during development. */
  allowedTargets: readonly string[];
  resolver?: Resolver;
}): CheckUrl {
  const allowList = parseAllowList(allowedTargets);
  return async (text, workspaceId) => {
    const parsed = parseTargetUrl(text, { applicationHosts, schemes: ["https:"] });
    if (!parsed.ok) return { ok: false, violation: `url: ${VIOLATIONS[parsed.reason]}` };
    const target = await checkTarget(parsed, {
      resolver,
      allowList,
      workspaceId,
      signal: AbortSignal.timeout(RESOLVE_WITHIN_MS),
    });
    if (target.ok) return { ok: true, url: parsed.url.href };
    const violation = target.reason === "blocked" ? "target address not allowed" : "the host does not resolve";
    return { ok: false, violation: `url: ${violation}` };
  };
}
