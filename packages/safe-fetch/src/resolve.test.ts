import { expect, test } from "vitest";
import { ALLOW_NOTHING, parseAllowList } from "./allow-list.ts";
import { checkTarget, MAX_ADDRESSES_PER_NAME } from "./resolve.ts";
import { createSystemResolver } from "./system-resolver.ts";

const resolvingTo =
  (...addresses: string[]) =>
  async () =>
    addresses;
const target = { host: "hooks.example.net", port: 443 };
const never = () => new Promise<readonly string[]>(() => undefined);

test("[SSRF-4] one blocked address among several refuses the target, at any position", async () => {
  for (const addresses of [
    ["10.0.0.1"],
    ["8.8.8.8", "10.0.0.1"],
    ["::1", "8.8.8.8"],
    ["8.8.8.8", "2606:4700::1111", "::ffff:10.0.0.1"],
    ["8.8.8.8", "not an address"],
  ]) {
    const checked = await checkTarget(target, {
      resolver: resolvingTo(...addresses),
      workspaceId: "w",
      allowList: ALLOW_NOTHING,
    });
    expect(checked).toEqual({ ok: false, reason: "blocked" });
  }
});

test("[SSRF-6] the checked addresses are what the caller gets", async () => {
  const resolver = resolvingTo("8.8.8.8", "2606:4700::1111");
  const checked = await checkTarget(target, { resolver, workspaceId: "w", allowList: ALLOW_NOTHING });
  expect(checked).toEqual({ ok: true, addresses: ["8.8.8.8", "2606:4700::1111"] });
});

test("[SSRF] a host that is an address is judged without a lookup", async () => {
  const check = (host: string) =>
    checkTarget({ host, port: 443 }, { resolver: never, workspaceId: "w", allowList: ALLOW_NOTHING });
  expect(await check("8.8.8.8")).toEqual({ ok: true, addresses: ["8.8.8.8"] });
  expect(await check("127.0.0.1")).toEqual({ ok: false, reason: "blocked" });
  expect(await check("[::1]")).toEqual({ ok: false, reason: "blocked" });
  expect(await check("[::ffff:7f00:1]")).toEqual({ ok: false, reason: "blocked" });
});

test("[SSRF] a name without addresses, with far too many, or whose lookup fails does not resolve", async () => {
  const failing = () => Promise.reject(new Error("no such name"));
  const throwing = () => {
    throw new Error("broken resolver");
  };
  const many = resolvingTo(...Array.from({ length: MAX_ADDRESSES_PER_NAME + 1 }, () => "8.8.8.8"));
  for (const resolver of [resolvingTo(), failing, throwing, many]) {
    expect(await checkTarget(target, { resolver, workspaceId: "w", allowList: ALLOW_NOTHING })).toEqual({
      ok: false,
      reason: "unresolvable",
    });
  }
});

test("[SSRF] a signal ends the wait for a lookup, before it and during it", async () => {
  const stop = new AbortController();
  const waiting = checkTarget(target, {
    resolver: never,
    workspaceId: "w",
    allowList: ALLOW_NOTHING,
    signal: stop.signal,
  });
  stop.abort();
  expect(await waiting).toEqual({ ok: false, reason: "aborted" });
  const late = checkTarget(target, {
    resolver: never,
    workspaceId: "w",
    allowList: ALLOW_NOTHING,
    signal: stop.signal,
  });
  expect(await late).toEqual({ ok: false, reason: "aborted" });
});

test("[SSRF] the allow-list admits exactly its entries", async () => {
  const check = async (entries: string[], host: string, port: number, ...addresses: string[]) => {
    const options = { resolver: resolvingTo(...addresses), workspaceId: "w", allowList: parseAllowList(entries) };
    return (await checkTarget({ host, port }, options)).ok;
  };
  expect(await check(["127.0.0.1"], "a.example", 1, "127.0.0.1")).toBe(true);
  expect(await check(["127.0.0.1"], "a.example", 1, "::ffff:127.0.0.1")).toBe(true);
  expect(await check(["127.0.0.1"], "a.example", 1, "127.0.0.2")).toBe(false);
  expect(await check(["127.0.0.1"], "a.example", 1, "127.0.0.1", "10.0.0.1")).toBe(false);
  expect(await check(["127.0.0.0/8"], "a.example", 1, "127.9.9.9")).toBe(true);
  expect(await check(["10.1.2.0/23"], "a.example", 1, "10.1.3.255")).toBe(true);
  expect(await check(["10.1.2.0/23"], "a.example", 1, "10.1.4.0")).toBe(false);
  expect(await check(["::1/128"], "[::1]", 1)).toBe(true);
  expect(await check(["fd00::/8"], "a.example", 1, "fe80::1")).toBe(false);
  expect(await check(["localhost:9000"], "localhost", 9000, "127.0.0.1", "::1")).toBe(true);
  expect(await check(["localhost:9000"], "localhost", 9001, "127.0.0.1")).toBe(false);
  expect(await check(["localhost:9000"], "b.example", 9000, "127.0.0.1")).toBe(false);
  expect(await check(["LOCALHOST.:9000"], "localhost", 9000, "127.0.0.1")).toBe(true);
  expect(await check(["127.0.0.1:9000"], "127.0.0.1", 9000)).toBe(true);
  expect(await check(["127.0.0.1:9000"], "127.0.0.1", 9001)).toBe(false);
  expect(await check(["[::1]:9000"], "[::1]", 9000)).toBe(true);
  expect(await check([], "127.0.0.1", 9000)).toBe(false);
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

test("[SSRF-4] the system's resolver finds localhost, which is blocked", async () => {
  const resolver = createSystemResolver();
  const both = await Promise.all([resolver("localhost", "w"), resolver("localhost", "w")]);
  expect(both[0]).toBe(both[1]);
  expect(both[0]?.some((ip) => ip === "127.0.0.1" || ip === "::1")).toBe(true);
  const checked = await checkTarget(
    { host: "localhost", port: 443 },
    { resolver, workspaceId: "w", allowList: ALLOW_NOTHING },
  );
  expect(checked).toEqual({ ok: false, reason: "blocked" });
});
