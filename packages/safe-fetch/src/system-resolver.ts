import { Resolver as DnsClient } from "node:dns/promises";
import pLimit, { type LimitFunction } from "p-limit";
import { createHostsFile } from "./hosts-file.ts";
import type { Resolver } from "./resolve.ts";

/** How long one query waits for one name server the first time, in milliseconds; a repetition waits longer. */
const QUERY_TIMEOUT_MS = 1_500;
/** How often each name server is queried. */
const QUERY_TRIES = 2;
/** Lookups under way at the same time. */
const MAX_LOOKUPS = 256;
/** Of these, lookups of one workspace: names whose servers hang take no more. */
export const MAX_LOOKUPS_PER_WORKSPACE = 16;
/** Lookups of one workspace that wait; further ones fail. */
const MAX_WAITING_LOOKUPS = 1_000;

const HOSTS_FILE = "/etc/hosts";

/** Where names are looked up. Default: the machine's hosts file and name servers. */
type SystemResolverOptions = {
  hostsFile?: string;
  /** Name servers as `address:port`. */
  servers?: readonly string[];
};

/**
 * A resolver that uses the hosts file and DNS. It sends queries over sockets, because `getaddrinfo` would occupy one of
 * the few threads of the process for as long as a name's servers hang. Simultaneous lookups of one name by one
 * workspace are one lookup, and a workspace that looks up many names delays no others. Addresses are not cached, whatever
 * their TTL: each send must check the current ones. [SSRF-5]
 */
export function createSystemResolver(options: SystemResolverOptions = {}): Resolver {
  const findInHostsFile = createHostsFile(options.hostsFile ?? HOSTS_FILE);
  const client = new DnsClient({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (options.servers !== undefined) client.setServers(options.servers);
  const limitOfAll = pLimit(MAX_LOOKUPS);
  const limits = new Map<string, LimitFunction>();
  const underWay = new Map<string, Promise<readonly string[]>>();

  async function lookUp(host: string): Promise<readonly string[]> {
    const found = await findInHostsFile(host);
    return found.length > 0 ? found : queryDns(client, host);
  }

  async function lookUpInTurn(host: string, workspaceId: string): Promise<readonly string[]> {
    const limit = limits.get(workspaceId) ?? pLimit(MAX_LOOKUPS_PER_WORKSPACE);
    if (limit.pendingCount >= MAX_WAITING_LOOKUPS) throw new Error("too many lookups wait");
    limits.set(workspaceId, limit);
    try {
      return await limit(() => limitOfAll(lookUp, host));
    } finally {
      if (limit.activeCount + limit.pendingCount === 0) limits.delete(workspaceId);
    }
  }

  return (host, workspaceId) => {
    // Of one workspace only: another one's lookup may still be waiting.
    const key = `${workspaceId} ${host}`;
    const joined = underWay.get(key);
    if (joined) return joined;
    const found = lookUpInTurn(host, workspaceId).finally(() => underWay.delete(key));
    underWay.set(key, found);
    return found;
  };
}

/** IPv4 and IPv6 alternate, so that a machine with only one of them finds a usable address among the first. */
async function queryDns(client: DnsClient, host: string): Promise<string[]> {
  const [ipv4, ipv6] = await Promise.allSettled([client.resolve4(host), client.resolve6(host)]);
  if (ipv4.status === "rejected" && ipv6.status === "rejected") throw ipv4.reason;
  const first = ipv4.status === "fulfilled" ? ipv4.value : [];
  const second = ipv6.status === "fulfilled" ? ipv6.value : [];
  return Array.from({ length: Math.max(first.length, second.length) }, (_, index) => [first[index], second[index]])
    .flat()
    .filter((address) => address !== undefined);
}
