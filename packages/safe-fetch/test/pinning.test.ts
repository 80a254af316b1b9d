import { expect, test } from "vitest";
import { ALLOW_NOTHING } from "../src/allow-list.ts";
import { checkTarget, type Resolver } from "../src/resolve.ts";
import { parseTargetUrl } from "../src/target-url.ts";
import { certificateFor, httpReceiver, httpsReceiver, rawReceiver } from "./receivers.ts";
import { loopbackFetch, post } from "./sending.ts";

const rules = { applicationHosts: [], schemes: ["https:", "http:"] as const };

test("[SSRF-5] a name that turns private between saving and sending is refused, and nothing is connected", async () => {
  await using receiver = await httpReceiver((_request, response) => response.end());
  const answers = [["8.8.8.8"], ["127.0.0.1"]];
  const resolver = async () => answers.shift() ?? [];
  const url = `http://rebind.example.net:${receiver.port}/`;
  const target = parseTargetUrl(url, rules);
  if (!target.ok) throw new Error("unexpected");
  expect((await checkTarget(target, { resolver, workspaceId: "w", allowList: ALLOW_NOTHING })).ok).toBe(true);

  await using safeFetch = loopbackFetch({ resolver, allowList: [] });
  const result = await safeFetch.send(post(url));
  expect(result).toMatchObject({ kind: "refused", code: "address", reason: "target address not allowed" });
  expect(result.timings.address).toBeNull();
  expect(receiver.opened()).toBe(0);
});

test("[SSRF-5] a kept connection is checked too: when the name turns private, the send is refused", async () => {
  await using receiver = await httpReceiver((_request, response) => response.end());
  let addresses = ["127.0.0.2"];
  await using other = await httpReceiver((_request, response) => response.end(), "127.0.0.2");
  await using safeFetch = loopbackFetch({ resolver: async () => addresses, allowList: ["127.0.0.2"] });
  const request = post(`http://rebind.example.net:${other.port}/`, { reuseKey: "k" });
  expect((await safeFetch.send(request)).kind).toBe("response");
  addresses = ["127.0.0.1"];
  expect(await safeFetch.send(request)).toMatchObject({ kind: "refused", code: "address" });
  expect([receiver.opened(), other.opened()]).toEqual([0, 1]);
});

test("[SSRF-6] each send makes one lookup, connects to the checked address, and sends the name as Host", async () => {
  const hosts: (string | undefined)[] = [];
  await using receiver = await httpReceiver((request, response) => {
    hosts.push(request.headers.host);
    response.end(request.socket.localAddress);
  }, "127.0.0.2");
  let lookups = 0;
  const resolver = async () => {
    lookups++;
    return ["127.0.0.2"];
  };
  await using safeFetch = loopbackFetch({ resolver });
  const result = await safeFetch.send(post(`http://Hooks.example.net.:${receiver.port}/x`));
  expect(result.kind === "response" && result.body.toString()).toBe("127.0.0.2");
  expect(result.timings).toMatchObject({ address: "127.0.0.2", reused: false, tlsMs: null });
  expect(result.timings.dnsMs).toBeTypeOf("number");
  expect(hosts).toEqual([`hooks.example.net:${receiver.port}`]);
  expect(lookups).toBe(1);
});

test("[SSRF-6] when TCP to the first checked address fails, the next checked one is used", async () => {
  await using receiver = await httpReceiver((_request, response) => response.end(), "127.0.0.3");
  await using safeFetch = loopbackFetch({ resolver: async () => ["127.0.0.2", "127.0.0.3"] });
  const result = await safeFetch.send(post(`http://hooks.example.net:${receiver.port}/`));
  expect(result).toMatchObject({ kind: "response", timings: { address: "127.0.0.3" } });
});

test("[SSRF-4] one private address next to a public one is refused at send", async () => {
  await using safeFetch = loopbackFetch({ resolver: async () => ["8.8.8.8", "10.0.0.1"] });
  expect(await safeFetch.send(post("https://hooks.example.net/"))).toMatchObject({ kind: "refused", code: "address" });
});

test.each([
  "http://127.0.0.1:9/",
  "http://[::1]:9/",
  "http://[::ffff:127.0.0.1]:9/",
  "http://[::127.0.0.1]:9/",
  "http://169.254.169.254/latest/meta-data",
  "http://[fd00:ec2::254]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[2002:7f00:1::]/",
  "http://0.0.0.0:9/",
  "http://localhost:9/",
])("[SSRF-5] %s is refused without an allow-list", async (url) => {
  await using safeFetch = loopbackFetch({ allowList: [] });
  expect(await safeFetch.send(post(url))).toMatchObject({ kind: "refused", code: "address" });
});

test("[SSRF-2] [SSRF-3] URL rules apply at send too", async () => {
  await using safeFetch = loopbackFetch({ schemes: ["https:"] });
  for (const [url, reason] of [
    ["https://app.example.com/", "application-host"],
    ["https://a:b@hooks.example.net/", "userinfo"],
    ["http://hooks.example.net/", "scheme"],
    ["https://127.1/", "host"],
  ] as const) {
    expect(await safeFetch.send(post(url))).toMatchObject({ kind: "refused", code: "url", url: reason });
  }
});

test("[SSRF] the caller cannot name another host or frame the message", async () => {
  await using safeFetch = loopbackFetch();
  for (const headers of [
    { Host: "internal" },
    { "content-length": "1" },
    { "Transfer-Encoding": "chunked" },
    { connection: "close" },
    { "x-a": "b\r\nx-c: d" },
    { "x-a\r\n": "b" },
    { "x-a": "☃" },
    { "x-a": "a".repeat(40_000) },
  ] as unknown as Record<string, string>[]) {
    expect(await safeFetch.send(post("http://127.0.0.1:9/", { headers }))).toMatchObject({
      kind: "refused",
      code: "request",
    });
  }
  const method = "CONNECT" as "GET";
  expect(await safeFetch.send(post("http://127.0.0.1:9/", { method }))).toMatchObject({
    kind: "refused",
    code: "request",
  });
});

test("[OUT-38] a name that does not resolve at send is a connection error", async () => {
  await using safeFetch = loopbackFetch({
    resolver: async () => Promise.reject(new Error("NXDOMAIN internal detail")),
  });
  expect(await safeFetch.send(post("https://hooks.example.net/"))).toMatchObject({
    kind: "connection-error",
    code: "dns",
    message: "the host name does not resolve",
  });
});

test("[OUT-34] a lookup that hangs is a timeout in DNS", async () => {
  await using safeFetch = loopbackFetch({ resolver: () => new Promise(() => undefined) });
  const result = await safeFetch.send(post("https://hooks.example.net/", { deadlineMs: 100 }));
  expect(result).toMatchObject({ kind: "timeout", phase: "dns" });
});

test("[SSRF] TLS: SNI, certificate and Host are those of the name, not of the address", async () => {
  const pem = await certificateFor("hooks.example.net");
  const seen: unknown[] = [];
  await using receiver = await httpsReceiver((request, response) => {
    seen.push([request.headers.host, (request.socket as { servername?: string }).servername]);
    response.end("ok");
  }, pem);
  await using safeFetch = loopbackFetch({ resolver: async () => ["127.0.0.1"], tls: { ca: pem.cert } });
  const result = await safeFetch.send(post(`https://hooks.example.net.:${receiver.port}/`));
  expect(result).toMatchObject({ kind: "response", status: 200 });
  expect(result.timings.tlsMs).toBeTypeOf("number");
  expect(seen).toEqual([[`hooks.example.net:${receiver.port}`, "hooks.example.net"]]);
});

test("[SSRF] TLS: an address as host is checked against the addresses of the certificate", async () => {
  const pem = await certificateFor("127.0.0.1");
  await using receiver = await httpsReceiver((_request, response) => response.end(), pem);
  await using safeFetch = loopbackFetch({ tls: { ca: pem.cert } });
  expect((await safeFetch.send(post(`https://127.0.0.1:${receiver.port}/`))).kind).toBe("response");
  const other = await certificateFor("127.0.0.9");
  await using wrong = await httpsReceiver((_request, response) => response.end(), other);
  await using trusting = loopbackFetch({ tls: { ca: other.cert } });
  expect(await trusting.send(post(`https://127.0.0.1:${wrong.port}/`))).toMatchObject({ code: "certificate" });
});

test("[OUT-38] a server that does not speak TLS is a TLS failure", async () => {
  await using rude = await rawReceiver((socket) => socket.end("HTTP/1.1 400 Bad\r\n\r\n"));
  await using safeFetch = loopbackFetch();
  expect(await safeFetch.send(post(`https://127.0.0.1:${rude.port}/`))).toMatchObject({
    kind: "connection-error",
    code: "tls",
  });
});

test("[SSRF] a name is looked up for the workspace whose request it is", async () => {
  const askedFor: string[] = [];
  const resolver: Resolver = async (_host, workspaceId) => {
    askedFor.push(workspaceId);
    return [];
  };
  await using safeFetch = loopbackFetch({ resolver });
  await safeFetch.send(post("http://hooks.example.net/", { workspaceId: "one" }));
  await safeFetch.send(post("http://hooks.example.net/", { workspaceId: "other" }));
  expect(askedFor).toEqual(["one", "other"]);
});
