import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";

/** The addresses of a name in the hosts file; empty when it is not there. Never rejects. */
type HostsFile = (host: string) => Promise<readonly string[]>;

type Known = { changedAtMs: number; addresses: ReadonlyMap<string, readonly string[]> };

const NO_FILE: Known = { changedAtMs: Number.NaN, addresses: new Map() };

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
  const { mtimeMs: changedAtMs } = await stat(path);
  return known.changedAtMs === changedAtMs ? known : { changedAtMs, addresses: parse(await readFile(path, "utf8")) };
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
