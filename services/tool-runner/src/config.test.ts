import { expect, test } from "vitest";
import { readConfig } from "./config.ts";
import { readSandboxConfig } from "./sandbox-config.ts";

const ENV = {
  DATABASE_URL: "postgres://127.0.0.1/x",
  REDIS_URL: "redis://127.0.0.1",
  NATS_URL: "nats://127.0.0.1",
  SEALING_KEYS: `1:${Buffer.alloc(32).toString("base64")}`,
};

test("[RO-8] tools send email if SMTP_URL and MAIL_FROM are set; setting only one is refused", () => {
  expect(readConfig(ENV).mail).toBeUndefined();
  const mail = { SMTP_URL: "smtp://127.0.0.1:25", MAIL_FROM: "tools@gate.example" };
  expect(readConfig({ ...ENV, ...mail }).mail).toEqual({ smtpUrl: mail.SMTP_URL, from: mail.MAIL_FROM });
  expect(() => readConfig({ ...ENV, SMTP_URL: mail.SMTP_URL })).toThrow(/MAIL_FROM is missing/);
});

test("[SSRF] exceptions for development are refused in production", () => {
  for (const exception of [{ ALLOWED_TARGETS: "127.0.0.1" }, { TARGET_CA_FILE: "ca.pem" }]) {
    expect(() => readConfig({ ...ENV, ...exception })).toThrow(/refused in production/);
    expect(() => readConfig({ ...ENV, ...exception, NODE_ENV: "development" })).not.toThrow();
  }
});

test("[TOOL-2] the sandbox needs its layers of isolation in production, unless a setting allows it to run without", () => {
  expect(readConfig(ENV).requireIsolation).toBe(true);
  expect(readConfig({ ...ENV, NODE_ENV: "development" }).requireIsolation).toBe(false);
  expect(readConfig({ ...ENV, SANDBOX_DANGEROUSLY_WEAK_ISOLATION: "true" }).requireIsolation).toBe(false);
});

test("[TOOL-2] sandbox processes are reached with https if this process has certificates, and otherwise with http", () => {
  const files = { TLS_CERT_FILE: "cert.pem", TLS_KEY_FILE: "key.pem", TLS_CA_FILE: "ca.pem" };
  const at = (SANDBOX_URL: string) => ({ ...ENV, SANDBOX_URL, SANDBOX_TOKEN: "t".repeat(32) });
  expect(readConfig(at("http://sandbox:7006")).sandbox?.urls).toBe("http://sandbox:7006");
  expect(readConfig({ ...at("https://sandbox:7006"), ...files }).sandbox?.urls).toBe("https://sandbox:7006");
  const short = { ...at("http://sandbox:7006"), SANDBOX_TOKEN: "t".repeat(31) };
  expect(() => readConfig(short)).toThrow(/SANDBOX_TOKEN .*32/);
  expect(() => readConfig(at("https://sandbox:7006"))).toThrow("SANDBOX_URL must be http URLs, unless");
  expect(() => readConfig({ ...at("https://a:1,http://b:1"), ...files })).toThrow("SANDBOX_URL must be https URLs");
});

test("[TOOL-2] a sandbox process admits one token, or two while the token is being rotated", () => {
  const [one, two] = ["0".repeat(64), "a".repeat(64)];
  const hashesIn = (SANDBOX_TOKEN_HASH: string) => readSandboxConfig({ SANDBOX_TOKEN_HASH }).tokenHashes;
  expect(hashesIn(one)).toEqual([one]);
  expect(hashesIn(`${one}, ${two}`)).toEqual([one, two]);
  for (const wrong of [`${one},${two},${one}`, `${one},`.repeat(3), `${one},${"A".repeat(64)}`, `${one} ${two}`, ","])
    expect(() => hashesIn(wrong), wrong).toThrow("SANDBOX_TOKEN_HASH must be the SHA-256 of the token");
  expect(() => hashesIn("")).toThrow("SANDBOX_TOKEN_HASH is missing");
});
