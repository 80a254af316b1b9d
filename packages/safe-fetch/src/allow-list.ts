import { addressBytes, hasPrefix } from "./address.ts";
import { normalizeHost } from "./host.ts";

/** Decides whether a blocked address may be connected to all the same: in development and in tests only. */
export type AllowList = (target: { host: string; port: number }, ip: string) => boolean;

type Network = { bytes: readonly number[]; prefixBits: number };

/** Matches nothing: the setting of production. */
export const ALLOW_NOTHING: AllowList = () => false;

const HOST_PORT = /^(.+):([0-9]{1,5})$/;

/**
 * Reads a development allow-list. Entries are an address (`127.0.0.1`), a network (`127.0.0.0/8`, `::1/128`), or
 * `host:port` with a name, an IPv4 address or a bracketed IPv6 address (`localhost:9000`, `[::1]:9000`); an entry
 * of the last form covers whatever that host resolves to, at that port. Throws a TypeError that names a bad entry.
 * Whether a non-empty list is acceptable at all is the configuration's business.
 */
export function parseAllowList(entries: readonly string[]): AllowList {
  if (entries.length === 0) return ALLOW_NOTHING;
  const networks: Network[] = [];
  const hostPorts = new Set<string>();
  for (const entry of entries) {
    const network = parseNetwork(entry);
    if (network !== undefined) networks.push(network);
    else hostPorts.add(parseHostPort(entry));
  }
  return ({ host, port }, ip) => {
    if (hostPorts.has(`${host}:${port}`)) return true;
    const bytes = addressBytes(ip);
    return bytes !== undefined && networks.some((network) => hasPrefix(bytes, network.bytes, network.prefixBits));
  };
}

function parseNetwork(entry: string): Network | undefined {
  const [ip = "", prefix, ...rest] = entry.split("/");
  const bytes = addressBytes(ip);
  if (bytes === undefined || rest.length > 0) return undefined;
  const maxBits = bytes.length * 8;
  if (prefix === undefined) return { bytes, prefixBits: maxBits };
  const prefixBits = /^[0-9]{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (!(prefixBits <= maxBits)) throw new TypeError(`bad prefix length in the allow-list entry "${entry}"`);
  return { bytes, prefixBits };
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
