import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";

/** Largest hosts file that is read, in bytes; a larger one counts as empty. */
export const MAX_HOSTS_FILE_BYTES = 1_048_576;

/** The addresses of a name in the hosts file; empty when it is not there. Never rejects. */
type HostsFile = (host: string) => Promise<readonly string[]>;

type Known = { changedAtMs: number; bytes: number; addresses: ReadonlyMap<string, readonly string[]> };

const NO_FILE: Known = { changedAtMs: Number.NaN, bytes: 0, addresses: new Map() };

/** [RFC 6761] What these names mean when the file does not say. */
const LOOPBACK = ["127.0.0.1", "::1"];

/** Reads a hosts file whenever it has changed. `localhost` and names below it are loopback even without an entry. */
export function createHostsFile(path: string): HostsFile {
  let known = NO_FILE;
  return async (host) => {
    known = await refreshed(path, known).catch(() => NO_FILE);
    return known.addresses.get(host) ?? (/(?:^|\.)localhost$/.test(host) ? LOOPBACK : []);
  };
}

async function refreshed(path: string, known: Known): Promise<Known> {
  const { mtimeMs: changedAtMs, size: bytes } = await stat(path);
  if (known.changedAtMs === changedAtMs && known.bytes === bytes) return known;
  const text = bytes > MAX_HOSTS_FILE_BYTES ? "" : await readFile(path, "utf8");
  return { changedAtMs, bytes, addresses: parse(text) };
}

function parse(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...names] = (line.split("#")[0] ?? "").trim().split(/\s+/);
    if (isIP(address) === 0 || address.includes("%")) continue;
    for (const name of new Set(names.map((written) => written.toLowerCase().replace(/\.$/, "")))) {
      const addresses = found.get(name) ?? [];
      if (!addresses.includes(address)) addresses.push(address);
      found.set(name, addresses);
    }
  }
  return found;
}
