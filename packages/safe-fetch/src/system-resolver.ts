import { Resolver as DnsClient } from "node:dns/promises";
import { boundedLookups } from "./bounded-lookups.ts";
import { createHostsFile } from "./hosts-file.ts";
import type { Resolver } from "./resolve.ts";

/** How long one query waits for one name server the first time, in milliseconds; a repetition waits longer. */
const QUERY_TIMEOUT_MS = 1_500;
/** How often each name server is queried. */
const QUERY_TRIES = 2;

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
 * their TTL.
 */
export function createSystemResolver(options: SystemResolverOptions = {}): Resolver {
  const findInHostsFile = createHostsFile(options.hostsFile ?? HOSTS_FILE);
  const client = new DnsClient({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (options.servers !== undefined) client.setServers(options.servers);
  return boundedLookups(async (host) => {
    const found = await findInHostsFile(host);
    return found.length > 0 ? found : queryDns(client, host);
  });
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
