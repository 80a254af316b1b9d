// Preloaded into the processes of a rollout test: names of `.rollouts.test` are those of headless Services, whose addresses
// the test writes into a file. Everything else is resolved as usual.
import dns from "node:dns";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

type Address = { address: string; family: 4 };

const file = process.env.ROLLOUT_NAMES ?? "";
const { lookup } = dns;
const { lookup: lookupLater } = dns.promises;

/** Undefined for other names; none when no process of the name is ready. */
function addressesOf(name: string): Address[] | undefined {
  if (!name.endsWith(".rollouts.test")) return undefined;
  const known = JSON.parse(readFileSync(file, "utf8")) as Record<string, string[]>;
  return (known[name] ?? []).map((address) => ({ address, family: 4 }));
}

const notFound = (name: string) => Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" });

// biome-ignore lint/suspicious/noExplicitAny: the options are those of each caller.
async function lookupSoon(name: string, options: any): Promise<unknown> {
  const found = addressesOf(name);
  if (!found) return lookupLater(name, options);
  if (found.length === 0) throw notFound(name);
  return options?.all ? found : found[0];
}

// biome-ignore lint/suspicious/noExplicitAny: the callback may come second, in place of the options.
function lookupWithCallback(name: string, ...rest: any[]): void {
  const found = addressesOf(name);
  if (!found) {
    // @ts-expect-error: passed on as they came.
    lookup(name, ...rest);
    return;
  }
  const done = rest.at(-1);
  const all = rest.length > 1 && rest[0]?.all;
  process.nextTick(() => {
    const [first] = found;
    if (!first) done(notFound(name));
    else if (all) done(null, found);
    else done(null, first.address, first.family);
  });
}

Object.assign(dns, { lookup: lookupWithCallback });
Object.assign(dns.promises, { lookup: lookupSoon });
syncBuiltinESMExports();
