import { expect, test } from "vitest";
import { baseUrlOf } from "./base-url.ts";

test("[OAPI-1] base_url is the configured one, else what the request named, never something odd in its Host", () => {
  expect(baseUrlOf("https://api.example.com/", { protocol: "http", host: "x" })).toBe("https://api.example.com");
  expect(baseUrlOf("", { protocol: "https", host: "api.example.com:8443" })).toBe("https://api.example.com:8443");
  expect(baseUrlOf("", { protocol: "http", host: "[::1]:8080" })).toBe("http://[::1]:8080");
  for (const host of ["", "a/b", "evil.example/?", "a b", "user@host", '"><script>']) {
    expect(baseUrlOf("", { protocol: "http", host })).toBe("/");
  }
});
