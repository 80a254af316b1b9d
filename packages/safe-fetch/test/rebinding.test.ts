import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNameServer } from "@toolgate/testbed/servers/name-server";
import { expect, test } from "vitest";
import { parseAllowList } from "../src/allow-list.ts";
import { checkTarget } from "../src/resolve.ts";
import { createSystemResolver } from "../src/system-resolver.ts";
import { httpReceiver } from "./receivers.ts";
import { loopbackFetch, post } from "./sending.ts";

const PUBLIC = "8.8.8.8";
const PUBLIC_IPV6 = "2606:4700:4700::1111";
const NO_FILE = join(tmpdir(), "no-such-folder", "hosts");
const REFUSED = { kind: "refused", code: "address", reason: "target address not allowed" };

const resolverOn = (dns: { servers: readonly string[] }) =>
  createSystemResolver({ servers: dns.servers, hostsFile: NO_FILE });

test.each(["127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fd00:ec2::254"])(
  "[SSRF-4] [SSRF-5] a name that DNS moves from a public address to %s after the check is refused",
  async (moved) => {
    await using receiver = await httpReceiver((_request, response) => response.end());
    let answer = PUBLIC;
    await using dns = await startNameServer(() => [answer]);
    const resolver = resolverOn(dns);
    const target = { host: "rebind.example.net", port: receiver.port };
    expect(await checkTarget(target, { resolver, workspaceId: "w", allowList: parseAllowList([]) })).toEqual({
      ok: true,
      addresses: [PUBLIC],
    });
    answer = moved;
    await using safeFetch = loopbackFetch({ resolver, allowList: [] });
    const result = await safeFetch.send(post(`http://rebind.example.net:${receiver.port}/`));
    expect(result).toMatchObject({ ...REFUSED, timings: { address: null } });
    expect(receiver.opened()).toBe(0);
  },
);

test("[SSRF-6] when DNS gives another address each time, each send makes one lookup and connects to that address", async () => {
  await using checked = await httpReceiver((_request, response) => response.end("checked"), "127.0.0.2");
  await using other = await httpReceiver((_request, response) => response.end("other"), "127.0.0.1");
  let questions = 0;
  await using dns = await startNameServer((_host, family) => {
    if (family === 6) return [PUBLIC];
    questions += 1;
    return [questions % 2 === 1 ? "127.0.0.2" : "127.0.0.1"];
  });
  // 127.0.0.2 plays the public address, 127.0.0.1 the private one.
  await using safeFetch = loopbackFetch({ resolver: resolverOn(dns), allowList: ["127.0.0.2"] });
  const url = `http://rebind.example.net:${checked.port}/`;
  const first = await safeFetch.send(post(url));
  expect(first).toMatchObject({ kind: "response", timings: { address: "127.0.0.2" }, body: Buffer.from("checked") });
  expect(questions).toBe(1);
  expect(await safeFetch.send(post(url))).toMatchObject(REFUSED);
  expect(await safeFetch.send(post(`http://rebind.example.net:${other.port}/`))).toMatchObject({
    kind: "connection-error",
    code: "refused",
  });
  expect([questions, checked.opened(), other.opened()]).toEqual([3, 1, 0]);
});

test.each([
  ["two IPv4 addresses, the private one first", ["127.0.0.1", PUBLIC]],
  ["a public IPv4 and a private IPv6 address", [PUBLIC, "::1"]],
  ["a mapped private address next to public ones", [PUBLIC, PUBLIC_IPV6, "::ffff:172.16.0.1"]],
  ["one private address among a hundred", [...Array<string>(99).fill(PUBLIC), "100.64.0.1"]],
])("[SSRF-4] DNS that mixes public and private is refused: %s", async (_title, answers) => {
  await using dns = await startNameServer((_host, family) =>
    answers.filter((ip) => ip.includes(":") === (family === 6)),
  );
  const resolver = resolverOn(dns);
  const target = { host: "mixed.example.net", port: 443 };
  expect(await checkTarget(target, { resolver, workspaceId: "w", allowList: parseAllowList([]) })).toEqual({
    ok: false,
    reason: "blocked",
  });
  await using safeFetch = loopbackFetch({ resolver, allowList: [] });
  expect(await safeFetch.send(post("https://mixed.example.net/"))).toMatchObject(REFUSED);
});

test("[SSRF-4] addresses of both families that are all public are all kept", async () => {
  await using dns = await startNameServer((_host, family) => (family === 6 ? [PUBLIC_IPV6] : [PUBLIC]));
  const options = { resolver: resolverOn(dns), workspaceId: "w", allowList: parseAllowList([]) };
  expect(await checkTarget({ host: "public.example.net", port: 443 }, options)).toEqual({
    ok: true,
    addresses: [PUBLIC, PUBLIC_IPV6],
  });
});
