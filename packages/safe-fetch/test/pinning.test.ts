import { expect, test } from "vitest";
import type { Resolver } from "../src/resolve.ts";
import { certificateFor, httpReceiver, httpsReceiver } from "./receivers.ts";
import { loopbackFetch, post } from "./sending.ts";

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

test("[SSRF-6] when TCP to the first checked address fails, the next checked one is used", async () => {
  await using receiver = await httpReceiver((_request, response) => response.end(), "127.0.0.3");
  await using safeFetch = loopbackFetch({ resolver: async () => ["127.0.0.2", "127.0.0.3"] });
  const result = await safeFetch.send(post(`http://hooks.example.net:${receiver.port}/`));
  expect(result).toMatchObject({ kind: "response", timings: { address: "127.0.0.3" } });
});

test("[SSRF-1] [SSRF-2] [SSRF-3] URL rules apply at send too", async () => {
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
