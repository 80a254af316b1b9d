import { isInNetworks, type Network, parseNetwork } from "@toolgate/ip-address/network";
import { normalizeHost } from "./target-url.ts";

/** Decides whether a blocked address may be connected to nevertheless: in development and in tests only. */
export type AllowList = (target: { host: string; port: number }, ip: string) => boolean;

const HOST_PORT = /^(.+):([0-9]{1,5})$/;

/**
 * Reads a development allow-list; an empty one, as in production, matches nothing. Entries are an address (`127.0.0.1`),
 * a network (`127.0.0.0/8`, `::1/128`), or `host:port` with a name, an IPv4 address or a bracketed IPv6 address
 * (`localhost:9000`, `[::1]:9000`); an entry of the last form covers whatever that host resolves to, at that port. Throws
 * a TypeError that names a bad entry.
 * The configuration decides whether a non-empty list is acceptable at all.
 */
export function parseAllowList(entries: readonly string[]): AllowList {
  const networks: Network[] = [];
  const hostPorts = new Set<string>();
  for (const entry of entries) {
    const network = parseNetwork(entry);
    if (!("fault" in network)) networks.push(network);
    else if (entry.includes("/")) throw new TypeError(`the allow-list entry "${entry}": ${network.fault}`);
    else hostPorts.add(parseHostPort(entry));
  }
  return ({ host, port }, ip) => hostPorts.has(`${host}:${port}`) || isInNetworks(networks, ip);
}

function parseHostPort(entry: string): string {
  const match = HOST_PORT.exec(entry);
  const host = normalizeHost(match?.[1] ?? "");
  const port = Number(match?.[2]);
  if (host === undefined || !(port >= 1 && port <= 65_535)) {
    throw new TypeError(`the allow-list entry "${entry}" is neither an address, a network nor host:port`);
  }
  return `${host}:${port}`;
}
