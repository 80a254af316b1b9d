import { afterAll, beforeAll, expect, test } from "vitest";
import { httpReceiver, type Receiver } from "./receivers.ts";
import { loopbackFetch, post } from "./sending.ts";

/** Ways to write 127.0.0.1, ::1 or a name of it, and what refuses them. */
const FORMS: readonly [title: string, host: string, code: "address" | "url"][] = [
  ["[SSRF-7] dotted quad", "127.0.0.1", "address"],
  ["[SSRF-7] another address of the range", "127.255.255.254", "address"],
  ["[SSRF-13] all zeros, which is this host", "0.0.0.0", "address"],
  ["[SSRF] decimal", "2130706433", "url"],
  ["[SSRF] decimal zero", "0", "url"],
  ["[SSRF] octal", "0177.0.0.1", "url"],
  ["[SSRF] octal in one number", "017700000001", "url"],
  ["[SSRF] octal with many zeros", "000000177.0.0.1", "url"],
  ["[SSRF] hexadecimal", "0x7f000001", "url"],
  ["[SSRF] hexadecimal in upper case", "0X7F.0.0.1", "url"],
  ["[SSRF] hexadecimal, mixed", "0x7f.1", "url"],
  ["[SSRF] hexadecimal, empty", "0x.0x.0x.0x", "url"],
  ["[SSRF] short, two parts", "127.1", "url"],
  ["[SSRF] short, three parts", "127.0.1", "url"],
  ["[SSRF] beyond 32 bits", "4294967297", "url"],
  ["[SSRF] octets beyond 255", "383.256.256.257", "url"],
  ["[SSRF] trailing dot behind a quad", "127.0.0.1.", "url"],
  ["[SSRF] trailing dot behind a number", "2130706433.", "url"],
  ["[SSRF-16] IPv6 loopback", "[::1]", "address"],
  ["[SSRF-16] IPv6 loopback in full", "[0000:0000:0000:0000:0000:0000:0000:0001]", "address"],
  ["[SSRF-15] IPv6 unspecified, which is this host", "[::]", "address"],
  ["[SSRF-19] mapped, dotted", "[::ffff:127.0.0.1]", "address"],
  ["[SSRF-19] mapped, hexadecimal", "[::FFFF:7F00:1]", "address"],
  ["[SSRF-19] mapped, in full", "[0:0:0:0:0:ffff:127.0.0.1]", "address"],
  ["[SSRF-19] compatible", "[::127.0.0.1]", "address"],
  ["[SSRF-19] translated", "[::ffff:0:127.0.0.1]", "address"],
  ["[SSRF] mapped, with octal", "[::ffff:0177.0.0.1]", "url"],
  ["[SSRF] mapped, short", "[::ffff:127.1]", "url"],
  ["[SSRF] NAT64", "[64:ff9b::127.0.0.1]", "address"],
  ["[SSRF] local NAT64", "[64:ff9b:1::127.0.0.1]", "address"],
  ["[SSRF] 6to4", "[2002:7f00:1::1]", "address"],
  ["[SSRF] Teredo", "[2001:0:7f00:1::80ff:fffe]", "address"],
  ["[SSRF] zone id", "[::1%lo]", "url"],
  ["[SSRF] zone id, percent-encoded", "[::1%25lo]", "url"],
  ["[SSRF] trailing dot behind brackets", "[::1].", "url"],
  ["[SSRF] IPv6 without brackets", "::1", "url"],
  ["[SSRF] brackets around IPv4", "[127.0.0.1]", "url"],
  ["[SSRF] full-width digits", "１２７.０.０.１", "url"],
  ["[SSRF] full-width dots", "127．0．0．1", "url"],
  ["[SSRF] ideographic dots", "127。0。0。1", "url"],
  ["[SSRF] half-width ideographic dots", "127｡0｡0｡1", "url"],
  ["[SSRF] circled digits", "①②⑦.⓪.⓪.①", "url"],
  ["[SSRF] superscript digits", "¹²⁷.0.0.1", "url"],
  ["[SSRF] mathematical digits", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "url"],
  ["[SSRF] Arabic-Indic digits", "١٢٧.٠.٠.١", "url"],
  ["[SSRF] an ignored soft hyphen", "127.0.0\u00ad.1", "url"],
  ["[SSRF] an ignored zero-width space", "127.0.0\u200b.1", "url"],
  ["[SSRF] percent-encoded digits", "%31%32%37.0.0.1", "url"],
  ["[SSRF] percent-encoded dots", "127%2e0%2e0%2e1", "url"],
  ["[SSRF] percent-encoded name", "%6cocalhost", "url"],
  ["[SSRF-4] name", "localhost", "address"],
  ["[SSRF-4] name in upper case with a trailing dot", "LOCALHOST.", "address"],
  ["[SSRF-4] name below it", "a.localhost", "address"],
  ["[SSRF-4] name in full-width letters", "ｌｏｃａｌｈｏｓｔ", "address"],
  ["[SSRF-4] name in circled letters", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "address"],
  ["[SSRF-4] name with an ignored soft hyphen", "local\u00adhost", "address"],
  ["[SSRF-2] behind userinfo", "hooks.example.net@127.0.0.1", "url"],
  ["[SSRF-2] behind an empty userinfo", "@127.0.0.1", "url"],
  ["[SSRF-2] behind userinfo with a port", "hooks.example.net:80@127.0.0.1", "url"],
  ["[SSRF-2] behind two at signs", "a@hooks.example.net@127.0.0.1", "url"],
  ["[SSRF] behind a backslash", "hooks.example.net\\@127.0.0.1", "url"],
  ["[SSRF] behind a tab", "\t127.0.0.1", "url"],
  ["[SSRF] around a line break", "127.0.\n0.1", "url"],
  ["[SSRF] before a NUL", "127.0.0.1\u0000.example.net", "url"],
  ["[SSRF] before a space", "127.0.0.1 .example.net", "url"],
  ["[SSRF] behind a byte-order mark", "\ufeff127.0.0.1", "url"],
];

let receiver: Receiver;
beforeAll(async () => {
  receiver = await httpReceiver((_request, response) => response.end(), "::");
});
afterAll(() => receiver[Symbol.asyncDispose]());

test.each(FORMS)("%s reaches no listener on loopback: %j", async (_title, host, code) => {
  await using safeFetch = loopbackFetch({ allowList: [] });
  const result = await safeFetch.send(post(`http://${host}:${receiver.port}/`));
  expect(result).toMatchObject({ kind: "refused", code });
  expect(receiver.opened()).toBe(0);
});

test("[SSRF] the listener of these tests is reached when it may be", async () => {
  await using safeFetch = loopbackFetch();
  for (const host of ["127.0.0.1", "[::1]"]) {
    expect((await safeFetch.send(post(`http://${host}:${receiver.port}/`))).kind).toBe("response");
  }
  expect(receiver.opened()).toBe(2);
});
