import { expect, test } from "vitest";
import { fillIn, namesIn } from "./template.ts";
import { hostsViolation, mayGoTo, secretViolation, workspaceValueOf } from "./workspace-values.ts";

test("[TOOL] a placeholder names a secret or a variable only by a well-formed name", () => {
  expect(workspaceValueOf("secret:A_1")).toEqual({ kind: "secret", name: "A_1" });
  expect(workspaceValueOf("variable:x")).toEqual({ kind: "variable", name: "x" });
  for (const name of ["secret:", "secret:1", "secret:a-b", "Secret:A", "secrets:A", "A", `secret:${"x".repeat(65)}`]) {
    expect(workspaceValueOf(name)).toBeUndefined();
  }
});

test("[TOOL] secrets are filled in once: a value that looks like a placeholder stays as it is", () => {
  const text = "{{secret:A}} {{ secret:B }} {{secret:A}} {{other}} {{secret:a-b}}";
  expect(namesIn(text)).toEqual(["secret:A", "secret:B", "secret:A", "other", "secret:a-b"]);
  const values: Record<string, string> = { "secret:A": "{{secret:B}}", "secret:B": "$&" };
  const filled = fillIn(text, (name) => values[name]);
  expect(filled).toBe("{{secret:B}} $& {{secret:B}} {{other}} {{secret:a-b}}");
});

test("[SSRF] a secret names its hosts, with a port unless it is 443, and with http:// unless it is https", () => {
  const right = ["a.example.test", "127.0.0.1", "localhost", "a.test:8443", "http://a.test", "http://a.test:8080"];
  expect(hostsViolation(right)).toBeUndefined();
  const hosts =
    "* *.a.test A.test https://a.test http:// a.test:0 a.test:65536 a.test: a.test/x user@a.test a..test -a.test";
  for (const host of ["", "x".repeat(254), ...hosts.split(" ")])
    expect(hostsViolation(["a.test", host]), host).toMatch(/^hosts\.1/);
  expect(hostsViolation([])).toBeDefined();
  expect(hostsViolation(new Array(21).fill("a.test"))).toBeDefined();
});

test("[SSRF] a secret is sent to exactly the scheme, host and port that are allowed, and nowhere else", () => {
  const goes = (url: string, ...hosts: string[]) => mayGoTo(url, hosts);
  const https = ["https://api.test/x", "https://API.test:443/", "https://api.test?k"];
  const others = ["http://api.test/", "http://api.test:443/", "https://api.test:8443/", "https://api.test.:443/"];
  for (const url of https) expect(goes(url, "b.test", "api.test"), url).toBe(true);
  for (const url of https) expect(goes(url, "api.test:443"), url).toBe(true);
  for (const url of others) expect(goes(url, "api.test"), url).toBe(false);
  expect(goes("https://api.test:8443/", "api.test:8443")).toBe(true);
  expect(goes("http://api.test:8443/", "api.test:8443")).toBe(false);
  for (const url of ["http://api.test/", "http://api.test:80/"]) expect(goes(url, "http://api.test"), url).toBe(true);
  for (const url of ["https://api.test/", "http://api.test:81/"]) expect(goes(url, "http://api.test"), url).toBe(false);
  expect(goes("http://api.test:8080/", "http://api.test:8080")).toBe(true);
  for (const url of ["https://api.test@evil.test/", "https://evil.test/#api.test", "api.test", "ftp://api.test/", ""]) {
    expect(goes(url, "api.test"), url).toBe(false);
  }
});

test("[TOOL] a secret is long enough to be removed from logs, and valid in a header", () => {
  expect(secretViolation("12345678")).toBeUndefined();
  for (const value of ["1234567", "x".repeat(8_193), "two\nlines", "nul\0nul\0", "\ud800aaaaaaa"]) {
    expect(secretViolation(value)).toBeDefined();
  }
});
