import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

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
