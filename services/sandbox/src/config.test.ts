import { type Env, readConfig as read } from "@toolgate/service-host/env";
import { expect, test } from "vitest";
import { readConfig, readSandboxSettings } from "./config.ts";

const settingsIn = (env: Env) => read(env, readSandboxSettings);

test("[TOOL-2] the sandbox needs its layers of isolation in production, unless a setting allows it to run without", () => {
  expect(settingsIn({}).requireIsolation).toBe(true);
  expect(settingsIn({ NODE_ENV: "development" }).requireIsolation).toBe(false);
  expect(settingsIn({ SANDBOX_DANGEROUSLY_WEAK_ISOLATION: "true" }).requireIsolation).toBe(false);
});

test("[TOOL-2] sandbox processes are reached with https if this process has certificates, and otherwise with http", () => {
  const files = { TLS_CERT_FILE: "cert.pem", TLS_KEY_FILE: "key.pem", TLS_CA_FILE: "ca.pem" };
  const at = (SANDBOX_URL: string) => ({ SANDBOX_URL, SANDBOX_TOKEN: "t".repeat(32) });
  expect(settingsIn(at("http://sandbox:7006")).remote?.urls).toBe("http://sandbox:7006");
  expect(settingsIn({ ...at("https://sandbox:7006"), ...files }).remote?.urls).toBe("https://sandbox:7006");
  const short = { ...at("http://sandbox:7006"), SANDBOX_TOKEN: "t".repeat(31) };
  expect(() => settingsIn(short)).toThrow(/SANDBOX_TOKEN .*32/);
  expect(() => settingsIn(at("https://sandbox:7006"))).toThrow("SANDBOX_URL must be http URLs, unless");
  expect(() => settingsIn({ ...at("https://a:1,http://b:1"), ...files })).toThrow("SANDBOX_URL must be https URLs");
});

test("[TOOL-2] a sandbox process admits one token, or two while the token is being rotated", () => {
  const [one, two] = ["0".repeat(64), "a".repeat(64)];
  const hashesIn = (SANDBOX_TOKEN_HASH: string) => readConfig({ SANDBOX_TOKEN_HASH }).tokenHashes;
  expect(hashesIn(one)).toEqual([one]);
  expect(hashesIn(`${one}, ${two}`)).toEqual([one, two]);
  for (const wrong of [`${one},${two},${one}`, `${one},`.repeat(3), `${one},${"A".repeat(64)}`, `${one} ${two}`, ","])
    expect(() => hashesIn(wrong), wrong).toThrow("SANDBOX_TOKEN_HASH must be the SHA-256 of the token");
  expect(() => hashesIn("")).toThrow("SANDBOX_TOKEN_HASH is missing");
});
