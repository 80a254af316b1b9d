import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";

const KEYS = `1:${Buffer.alloc(32).toString("base64")}`;
const ENV = { NATS_URL: "nats://n", DATABASE_URL: "postgres://d", SEALING_KEYS: KEYS };

describe("the configuration", () => {
  it("[FAIR-2] [FAIR-3] has all roles and the specified caps by default", () => {
    const config = readConfig(ENV);
    expect([...config.roles]).toEqual(["manager", "fan-out", "dispatcher", "worker"]);
    expect(config.core?.caps).toEqual({ perGroup: 5, perMember: 2, failingPerGroup: 2 });
    expect(config.mail).toBeUndefined();
  });

  it("[OUT] a worker alone needs neither database nor keys", () => {
    expect(readConfig({ NATS_URL: "nats://n", ROLES: "worker" }).core).toBeUndefined();
  });

  it("names all missing variables, and no value", () => {
    const read = () => readConfig({ SMTP_URL: "smtp://user:secret@mail" });
    expect(read).toThrow(/NATS_URL is missing; DATABASE_URL is missing; SEALING_KEYS is missing; MAIL_FROM is missing/);
    expect(read).not.toThrow(/user:secret/);
  });

  it("[SSRF] refuses the development settings in production, which is the default", () => {
    for (const setting of [{ ALLOWED_TARGETS: "127.0.0.1" }, { TARGET_CA_FILE: "ca.pem" }]) {
      expect(() => readConfig({ ...ENV, ...setting })).toThrow(/refused in production/);
      expect(() => readConfig({ ...ENV, ...setting, NODE_ENV: "production" })).toThrow(/refused/);
      expect(() => readConfig({ ...ENV, ...setting, NODE_ENV: "development" })).not.toThrow();
    }
  });

  it("refuses an unknown role", () => {
    expect(() => readConfig({ ...ENV, ROLES: "worker,boss" })).toThrow(/ROLES/);
  });
});
