import { expect, test } from "vitest";
import { urlVariable, withheldVariables } from "./services.ts";

test("what the registry lists for other services and roles is withheld, such as the database and the keys from a worker", () => {
  expect(withheldVariables("outbound-webhook", "worker")).toEqual([
    "DATABASE_URL",
    "DATABASE_CONNECTIONS",
    "REDIS_URL",
    "SEALING_KEYS",
    "SMTP_URL",
  ]);
  expect(withheldVariables("outbound-webhook", "manager")).toEqual(["REDIS_URL", "SMTP_URL"]);
  expect(withheldVariables("outbound-webhook", "dispatcher")).toEqual(["REDIS_URL"]);
  expect(withheldVariables("outbound-webhook")).toEqual(["REDIS_URL"]);
  expect(withheldVariables("tool-runner")).toEqual([]);
  expect(withheldVariables("gateway")).toContain("SEALING_KEYS");
  expect(withheldVariables("key-auth")).toEqual(["SMTP_URL"]);
});

test("the variable with a service's address follows from its name", () => {
  expect(urlVariable("outbound-webhook")).toBe("OUTBOUND_WEBHOOK_URL");
});
