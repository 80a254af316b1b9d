import { Resolver as NameServerClient } from "node:dns/promises";

/** How long one query waits for one name server the first time, in milliseconds; a repetition waits longer. */
export const QUERY_TIMEOUT_MS = 1_500;
/** How often each name server is asked. */
export const QUERY_TRIES = 2;

/** All addresses that DNS has for a name. Rejects when it has none. */
export type NameServers = (host: string) => Promise<readonly string[]>;

/**
 * Asks name servers over sockets, without a thread: `getaddrinfo` holds one of the few threads of the process for as
 * long as a name's servers hang. Answers are not kept, whatever their TTL. `servers` are `address:port`; without them
 * the machine's settings count. IPv4 and IPv6 addresses alternate, so that a machine with only one of them comes to
 * an address of its own among the first.
 */
export function createNameServers(servers: readonly string[] | undefined): NameServers {
  const client = new NameServerClient({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (servers !== undefined) client.setServers(servers);
  return async (host) => {
    const [ipv4, ipv6] = await Promise.allSettled([client.resolve4(host), client.resolve6(host)]);
    if (ipv4.status === "rejected" && ipv6.status === "rejected") throw ipv4.reason;
    return alternating(found(ipv4), found(ipv6));
  };
}

function found(outcome: PromiseSettledResult<string[]>): string[] {
  return outcome.status === "fulfilled" ? outcome.value : [];
}

function alternating(first: readonly string[], second: readonly string[]): string[] {
  const length = Math.max(first.length, second.length);
  return Array.from({ length }, (_, index) => [first[index], second[index]])
    .flat()
    .filter((address) => address !== undefined);
}
