import fc from "fast-check";
import { expect, test } from "vitest";
import { baseUrlOf, routableTarget } from "./addresses.ts";

test("[OAPI-1] base_url is the configured one, otherwise the request's own, never an invalid Host", () => {
  expect(baseUrlOf("https://api.example.com/", { protocol: "http", host: "x" })).toBe("https://api.example.com");
  expect(baseUrlOf("", { protocol: "https", host: "api.example.com:8443" })).toBe("https://api.example.com:8443");
  expect(baseUrlOf("", { protocol: "http", host: "[::1]:8080" })).toBe("http://[::1]:8080");
  for (const host of ["", "a/b", "evil.example/?", "a b", "user@host", '"><script>']) {
    expect(baseUrlOf("", { protocol: "http", host })).toBe("/");
  }
});

test.each([
  ["/api/v1/tools/echo", "/api/v1/tools/echo"],
  ["/api/v1/tools/a%2Fb?x=%zz", "/api/v1/tools/a%2Fb?x=%zz"],
  ["/api/v1/tools/a%2Fb%zz?x=%41", "/api/v1/tools/a%252Fb%25zz?x=%41"],
  ["/api/v1/tools/%C0%AF#%zz", "/api/v1/tools/%25C0%25AF#%zz"],
  ["http://a.example:80/api/v1/tools/echo?x", "/api/v1/tools/echo?x"],
  ["HTTPS://a.example?x=1", "/?x=1"],
  ["//a.example/x", "//a.example/x"],
  ["*", "*"],
])("[TOOL-6] %s is routed as %s", (target, routed) => {
  expect(routableTarget(target)).toBe(routed);
});

test("[TOOL-6] the routed path of any target can be decoded, and routing it again changes nothing", () => {
  const part = fc.constantFrom("%", "%2", "%zz", "%C3%A9", "%ff", "%00", "/", "?", "#", "http://", "a", "é");
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const routed = routableTarget(`/${parts.join("")}`);
      expect(() => decodeURIComponent(routed.split(/[?#]/)[0] ?? "")).not.toThrow();
      expect(routableTarget(routed)).toBe(routed);
    }),
  );
});
