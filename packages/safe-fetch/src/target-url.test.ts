import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_URL_CHARS, parseTargetUrl } from "./target-url.ts";

const rules = {
  applicationHosts: ["app.example.com", "Alias.Example.COM.:8443", "bücher.example"],
  schemes: ["https:"] as const,
};
const parse = (text: string) => parseTargetUrl(text, rules);
const reasonOf = (text: string) => {
  const result = parse(text);
  return result.ok ? `accepted as ${result.url.href}` : result.reason;
};

test.each([
  ["https://hooks.example.net", "https://hooks.example.net/", "hooks.example.net", 443],
  ["HTTPS://Hooks.EXAMPLE.net/A/b?q=1&r=%20", "https://hooks.example.net/A/b?q=1&r=%20", "hooks.example.net", 443],
  ["https://hooks.example.net:8443/x", "https://hooks.example.net:8443/x", "hooks.example.net", 8443],
  ["https://hooks.example.net:443/x", "https://hooks.example.net/x", "hooks.example.net", 443],
  ["https://hooks.example.net:/x", "https://hooks.example.net/x", "hooks.example.net", 443],
  ["https://hooks.example.net?q", "https://hooks.example.net/?q", "hooks.example.net", 443],
  ["https://hooks.example.net./x", "https://hooks.example.net/x", "hooks.example.net", 443],
  ["https://hooks.example.net/x#top", "https://hooks.example.net/x", "hooks.example.net", 443],
  ["https://hooks.example.net#", "https://hooks.example.net/", "hooks.example.net", 443],
  ["https://straße.example/ä", "https://xn--strae-oqa.example/%C3%A4", "xn--strae-oqa.example", 443],
  ["https://XN--STRAE-OQA.example/", "https://xn--strae-oqa.example/", "xn--strae-oqa.example", 443],
  ["https://example。net/", "https://example.net/", "example.net", 443],
  ["https://8.8.8.8/", "https://8.8.8.8/", "8.8.8.8", 443],
  ["https://[2606:4700:0::1111]:9/", "https://[2606:4700::1111]:9/", "[2606:4700::1111]", 9],
  ["https://hooks.example.net/a@b:c", "https://hooks.example.net/a@b:c", "hooks.example.net", 443],
  ["https://my_host.example.net/", "https://my_host.example.net/", "my_host.example.net", 443],
])("[SSRF] %s is kept as %s", (text, href, host, port) => {
  const result = parse(text);
  expect(result).toMatchObject({ ok: true, host, port });
  expect(result.ok && result.url.href).toBe(href);
});

test.each([
  ["SSRF-1", "http://hooks.example.net/", "scheme"],
  ["SSRF-1", "ftp://hooks.example.net/", "scheme"],
  ["SSRF-1", "file:///etc/passwd", "malformed"],
  ["SSRF-1", "javascript:alert(1)", "malformed"],
  ["SSRF-1", "//hooks.example.net/", "malformed"],
  ["SSRF-1", "hooks.example.net", "malformed"],
  ["SSRF-1", "", "malformed"],
  ["SSRF", "https:hooks.example.net", "malformed"],
  ["SSRF", "https:/hooks.example.net", "malformed"],
  ["SSRF", "https:///hooks.example.net", "malformed"],
  ["SSRF", "https://", "malformed"],
  ["SSRF", "https://?q", "malformed"],
  ["SSRF-2", "https://user:secret@hooks.example.net/", "userinfo"],
  ["SSRF-2", "https://@hooks.example.net/", "userinfo"],
  ["SSRF-2", "https://:@hooks.example.net/", "userinfo"],
  ["SSRF-3", "https://app.example.com/", "application-host"],
  ["SSRF-3", "https://APP.example.com:8443/x", "application-host"],
  ["SSRF-3", "https://app.example.com./", "application-host"],
  ["SSRF-3", "https://ａｐｐ.example.com/", "application-host"],
  ["SSRF-3", "https://app。example.com/", "application-host"],
  ["SSRF-3", "https://app.exa\u00admple.com/", "application-host"],
  ["SSRF-3", "https://alias.example.com/", "application-host"],
  ["SSRF-3", "https://xn--bcher-kva.example/", "application-host"],
  ["SSRF", "https://hooks.example.net/\t", "forbidden-character"],
  ["SSRF", " https://hooks.example.net/", "forbidden-character"],
  ["SSRF", "https://hooks.example.net/ ", "forbidden-character"],
  ["SSRF", "https://hooks.exa\nmple.net/", "forbidden-character"],
  ["SSRF", "https://hooks.example.net/\r\nHost: x", "forbidden-character"],
  ["SSRF", "https://hooks.example.net/\u0000", "forbidden-character"],
  ["SSRF", "https://hooks.example.net/\u007f", "forbidden-character"],
  ["SSRF", "https://hooks.example.net/\u0085", "forbidden-character"],
  ["SSRF", "https://hooks.example.net/\u00a0", "forbidden-character"],
  ["SSRF", "https://hooks.example.net/\u2028", "forbidden-character"],
  ["SSRF", "https://hooks.example.net/\ufeff", "forbidden-character"],
  ["SSRF", "https://hooks.example.net/\ud800", "forbidden-character"],
  ["SSRF", "https:\\\\hooks.example.net\\x", "forbidden-character"],
  ["SSRF", "https://hooks%2eexample.net/", "host"],
  ["SSRF", "https://[fe80::1%eth0]/", "host"],
  ["SSRF", "https://127.0.0.01/", "host"],
  ["SSRF", "https://127.0.0.0x1/", "host"],
  ["SSRF", "https://1.2.3.4.5/", "host"],
  ["SSRF", "https://256.256.256.256/", "host"],
  ["SSRF", "https://[::1/", "host"],
  ["SSRF", "https://[::1]x/", "host"],
  ["SSRF", "https://[v1.x]/", "host"],
  ["SSRF", "https://a..b/", "host"],
  ["SSRF", "https://a../", "host"],
  ["SSRF", "https://./", "host"],
  ["SSRF", "https://-a.example/", "host"],
  ["SSRF", "https://a*b.example/", "host"],
  ["SSRF", `https://${"a".repeat(64)}.example/`, "host"],
  ["SSRF", `https://${"a.".repeat(130)}example/`, "host"],
  ["SSRF", "https://hooks.example.net:0/", "port"],
  ["SSRF", "https://hooks.example.net:65536/", "port"],
  ["SSRF", "https://hooks.example.net:99999999999/", "port"],
  ["SSRF", "https://hooks.example.net:-1/", "host"],
  ["SSRF", "https://hooks.example.net:80:80/", "host"],
  ["SSRF", "https://hooks.example.net:8a/", "host"],
])("[%s] %j is refused: %s", (_rule, text, reason) => {
  expect(reasonOf(text)).toBe(reason);
});

test("[SSRF] 2048 characters pass, 2049 do not, and neither does what would be stored longer", () => {
  const fill = (length: number) => "https://h.example/".padEnd(length, "a");
  expect(parse(fill(MAX_URL_CHARS)).ok).toBe(true);
  expect(reasonOf(fill(MAX_URL_CHARS + 1))).toBe("too-long");
  expect(reasonOf(`https://h.example/${"ä".repeat(1_000)}`)).toBe("too-long");
});

test("[SSRF-1] http passes only where the rules say so", () => {
  const both = { ...rules, schemes: ["https:", "http:"] as const };
  expect(parseTargetUrl("http://h.example/", both)).toMatchObject({ ok: true, port: 80 });
});

const anyText = fc.oneof(
  fc.webUrl({ withFragments: true, withQueryParameters: true, validSchemes: ["https"] }),
  fc.string({ unit: "binary" }).map((text) => `https://${text}`),
  fc.stringMatching(/^https:\/\/[0-9a-fxA-F.:[\]%@]{1,30}\/?$/),
  fc.tuple(fc.domain(), fc.string()).map(([host, path]) => `https://${host}/${path}`),
);

test("[SSRF] what is accepted is stored in a form that is accepted unchanged, and contains nothing that is refused", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const first = parse(text);
      if (!first.ok) return;
      const second = parse(first.url.href);
      expect(second.ok && second.url.href).toBe(first.url.href);
      expect(first.url).toMatchObject({
        username: "",
        password: "",
        hash: "",
        protocol: "https:",
        hostname: first.host,
      });
      expect(first.host).toMatch(/^(?:[a-z0-9_.-]*[a-z0-9_]|\[[0-9a-f:]+\])$/);
      expect(first.port >= 1 && first.port <= 65_535).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("[SSRF] every written form of an IPv4 address but the dotted quad is refused", () => {
  const octet = fc.integer({ min: 0, max: 255 });
  fc.assert(
    fc.property(octet, octet, octet, octet, (a, b, c, d) => {
      const value = a * 2 ** 24 + b * 2 ** 16 + c * 256 + d;
      const octal = (part: number) => `0${part.toString(8)}`;
      const forms = [
        String(value),
        `0x${value.toString(16)}`,
        octal(value),
        `${a}.${b * 65_536 + c * 256 + d}`,
        `${a}.${b}.${c * 256 + d}`,
        [a, b, c, d].map(octal).join("."),
        [a, b, c, d].map((part) => `0x${part.toString(16)}`).join("."),
        `${a}.${b}.${c}.${d}.`,
        [...`${a}`]
          .map((digit) => String.fromCodePoint(0xff10 + Number(digit)))
          .join("")
          .concat(`.${b}.${c}.${d}`),
      ];
      for (const form of forms) expect([form, reasonOf(`https://${form}/`)]).toEqual([form, "host"]);
      expect(reasonOf(`https://${a}.${b}.${c}.${d}/`)).toContain("accepted");
    }),
  );
});
