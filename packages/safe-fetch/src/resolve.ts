import { isPublicAddress } from "./address.ts";
import type { AllowList } from "./allow-list.ts";
import type { TargetUrl } from "./target-url.ts";

/** At most this many addresses of one name are accepted; a name with more counts as not resolved. */
export const MAX_ADDRESSES_PER_NAME = 256;

/**
 * Turns a name into all its IPv4 and IPv6 addresses, in order of preference. Rejects or returns an empty list when
 * there are none. Lookups of one workspace may wait for each other.
 */
export type Resolver = (host: string, workspaceId: string) => Promise<readonly string[]>;

/** The outcome of a check: the addresses, all of them allowed, or why there are none. */
type CheckedTarget =
  | { ok: true; addresses: readonly string[] }
  | { ok: false; reason: "blocked" | "unresolvable" | "aborted" };

type CheckOptions = {
  resolver: Resolver;
  allowList: AllowList;
  /** Whose target it is. */
  workspaceId: string;
  signal?: AbortSignal | undefined;
};

/**
 * Resolves a target and checks every address: one blocked address that is not in the allow-list refuses the whole
 * target. The caller must connect to one of the returned addresses and to nothing else. A host that is an address is not
 * resolved. Call it when saving and again before every send. Never rejects. [SSRF-4..6]
 */
export async function checkTarget(
  target: Pick<TargetUrl, "host" | "port">,
  { resolver, allowList, workspaceId, signal }: CheckOptions,
): Promise<CheckedTarget> {
  const literal = literalAddress(target.host);
  if (literal !== undefined) return judge(target, [literal], allowList);
  if (signal?.aborted) return { ok: false, reason: "aborted" };
  const addresses = await lookUp(resolver(target.host, workspaceId), signal);
  if (addresses === "aborted") return { ok: false, reason: "aborted" };
  return judge(target, addresses, allowList);
}

/** The address that a URL's host is, without brackets; undefined for a name. */
export function literalAddress(host: string): string | undefined {
  if (host.startsWith("[")) return host.slice(1, -1);
  return /^[0-9.]+$/.test(host) ? host : undefined;
}

function judge(
  target: Pick<TargetUrl, "host" | "port">,
  addresses: readonly string[],
  allowList: AllowList,
): CheckedTarget {
  if (addresses.length === 0 || addresses.length > MAX_ADDRESSES_PER_NAME) return { ok: false, reason: "unresolvable" };
  const allowed = addresses.every((ip) => isPublicAddress(ip) || allowList(target, ip));
  return allowed ? { ok: true, addresses } : { ok: false, reason: "blocked" };
}

/** What a lookup finds, nothing when it fails; "aborted" as soon as the signal fires. */
async function lookUp(
  lookup: Promise<readonly string[]>,
  signal: AbortSignal | undefined,
): Promise<readonly string[] | "aborted"> {
  const aborted = Promise.withResolvers<"aborted">();
  const onAbort = () => aborted.resolve("aborted");
  signal?.addEventListener("abort", onAbort);
  try {
    return await Promise.race([aborted.promise, lookup]);
  } catch {
    return [];
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}
