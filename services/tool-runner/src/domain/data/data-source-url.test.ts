import { expect, test } from "vitest";
import { parseDataSourceUrl, tlsTo } from "./data-source-url.ts";

const BASE = "postgres://user:p%40ss@db.example.test:6543/orders";

test("[SSRF-4] a data source's URL is read into its fields", () => {
  const fields = { host: "db.example.test", port: 6543, user: "user", password: "p@ss", database: "orders" };
  expect(parseDataSourceUrl(BASE)).toEqual({ ...fields, tlsMode: undefined });
  expect(parseDataSourceUrl(`${BASE}?sslmode=require`)).toEqual({ ...fields, tlsMode: "require" });
  expect(parseDataSourceUrl("postgresql://u@[::1]/d")).toMatchObject({ host: "[::1]", port: 5432, password: "" });
});

test.each([
  "?host=10.0.0.1",
  "?sslcert=/etc/passwd",
  "?sslmode=no-verify",
  "?sslmode=require&sslmode=disable",
  "?sslmode=require&host=10.0.0.1",
  "#fragment",
])("[SSRF-4] a data source's URL with %s is refused", (suffix) => {
  expect(parseDataSourceUrl(BASE + suffix)).toBeUndefined();
});

test.each([
  "postgres:///orders",
  "postgres://user@%2Fvar%2Frun/orders",
  "postgres://user@127.0.0.1,10.0.0.1/orders",
  "postgres://user@2130706433/orders",
  "postgres://user@db.test:0/orders",
  "postgres://db.test/orders",
  "postgres://user@db.test/",
  "postgres://us%00er@db.test/orders",
  "http://user@db.test/orders",
  "/var/run/postgresql",
])("[SSRF-4] %s is not a data source", (url) => {
  expect(parseDataSourceUrl(url)).toBeUndefined();
});

test("[SSRF] a data source that the operator has not listed is used only over TLS with a checked certificate", () => {
  expect(tlsTo(undefined, false)).toBe(true);
  expect(tlsTo("require", false)).toBe(true);
  expect(tlsTo("disable", false)).toBe("refused");
  expect(tlsTo(undefined, true)).toBe(false);
  expect(tlsTo("disable", true)).toBe(false);
  expect(tlsTo("verify-full", true)).toBe(true);
});
