import { expect, test } from "vitest";
import { parseAllowList } from "./allow-list.ts";
import { checkTarget, MAX_ADDRESSES_PER_NAME } from "./resolve.ts";

const resolvingTo =
  (...addresses: string[]) =>
  async () =>
    addresses;
const target = { host: "hooks.example.net", port: 443 };
const never = () => new Promise<readonly string[]>(() => undefined);

test("[SSRF] a host that is an address is judged without a lookup", async () => {
  const check = (host: string) =>
    checkTarget({ host, port: 443 }, { resolver: never, workspaceId: "w", allowList: parseAllowList([]) });
  expect(await check("8.8.8.8")).toEqual({ ok: true, addresses: ["8.8.8.8"] });
  expect(await check("127.0.0.1")).toEqual({ ok: false, reason: "blocked" });
  expect(await check("[::1]")).toEqual({ ok: false, reason: "blocked" });
  expect(await check("[::ffff:7f00:1]")).toEqual({ ok: false, reason: "blocked" });
});

test("[SSRF] a name without addresses, with far too many, or whose lookup fails does not resolve", async () => {
  const failing = () => Promise.reject(new Error("no such name"));
  const many = resolvingTo(...Array.from({ length: MAX_ADDRESSES_PER_NAME + 1 }, () => "8.8.8.8"));
  for (const resolver of [resolvingTo(), failing, many]) {
    expect(await checkTarget(target, { resolver, workspaceId: "w", allowList: parseAllowList([]) })).toEqual({
      ok: false,
      reason: "unresolvable",
    });
  }
});

test("[SSRF] a signal ends the wait for a lookup, before it and during it", async () => {
  const stop = new AbortController();
  let lookups = 0;
  const resolver = () => {
    lookups += 1;
    return never();
  };
  const options = { resolver, workspaceId: "w", allowList: parseAllowList([]), signal: stop.signal };
  const waiting = checkTarget(target, options);
  stop.abort();
  expect(await waiting).toEqual({ ok: false, reason: "aborted" });
  expect(await checkTarget(target, options)).toEqual({ ok: false, reason: "aborted" });
  expect(lookups).toBe(1);
});

test.each<[entries: string[], host: string, port: number, addresses: string[], allowed: boolean]>([
  [["127.0.0.1"], "a.example", 1, ["127.0.0.1"], true],
  [["127.0.0.1"], "a.example", 1, ["::ffff:127.0.0.1"], true],
  [["127.0.0.1"], "a.example", 1, ["127.0.0.2"], false],
  [["127.0.0.1"], "a.example", 1, ["127.0.0.1", "10.0.0.1"], false],
  [["10.1.2.0/23"], "a.example", 1, ["10.1.3.255"], true],
  [["10.1.2.0/23"], "a.example", 1, ["10.1.4.0"], false],
  [["::1/128"], "[::1]", 1, [], true],
  [["fd00::/8"], "a.example", 1, ["fe80::1"], false],
  [["LOCALHOST.:9000"], "localhost", 9000, ["127.0.0.1", "::1"], true],
  [["localhost:9000"], "localhost", 9001, ["127.0.0.1"], false],
  [["localhost:9000"], "b.example", 9000, ["127.0.0.1"], false],
  [["127.0.0.1:9000"], "127.0.0.1", 9000, [], true],
  [["127.0.0.1:9000"], "127.0.0.1", 9001, [], false],
  [["[::1]:9000"], "[::1]", 9000, [], true],
  [[], "127.0.0.1", 9000, [], false],
])("[SSRF] the allow-list %j and %s:%i at %j: %s", async (entries, host, port, addresses, allowed) => {
  const options = { resolver: resolvingTo(...addresses), workspaceId: "w", allowList: parseAllowList(entries) };
  expect((await checkTarget({ host, port }, options)).ok).toBe(allowed);
});

test.each([
  "",
  "localhost",
  "*",
  "10.0.0.0/33",
  "10.0.0.0/",
  "10.0.0.0/8/8",
  "127.1",
  "host:0",
  "host:65536",
  "a b:80",
  "::1%lo",
])("[SSRF] the allow-list entry %j is an error, not a wildcard", (entry) => {
  expect(() => parseAllowList([entry])).toThrow(TypeError);
});
