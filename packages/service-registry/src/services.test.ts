import { expect, test } from "vitest";
import { bareVariables, urlVariable, withheldVariables } from "./services.ts";

test("what the registry lists for other services and roles is withheld, such as the database and the keys from a worker", () => {
  expect(withheldVariables("outbound-webhook", "worker")).toEqual([
    "DATABASE_URL",
    "DATABASE_CONNECTIONS",
    "REDIS_URL",
    "SEALING_KEYS",
    "SERVICE_KEY",
    "SMTP_URL",
    "SANDBOX_TOKEN",
  ]);
  expect(withheldVariables("outbound-webhook", "fan-out")).toContain("SERVICE_KEY");
  expect(withheldVariables("outbound-webhook", "manager")).toEqual(["REDIS_URL", "SMTP_URL", "SANDBOX_TOKEN"]);
  expect(withheldVariables("outbound-webhook", "dispatcher")).toEqual(["REDIS_URL", "SANDBOX_TOKEN"]);
  expect(withheldVariables("outbound-webhook")).toEqual(["REDIS_URL", "SANDBOX_TOKEN"]);
  expect(withheldVariables("tool-runner")).toEqual([]);
  expect(withheldVariables("gateway")).toContain("SEALING_KEYS");
  expect(withheldVariables("key-auth")).toEqual(["SMTP_URL", "SANDBOX_TOKEN"]);
});

test("the variable with a service's address follows from its name", () => {
  expect(urlVariable("outbound-webhook")).toBe("OUTBOUND_WEBHOOK_URL");
});

test("a process of the service sandbox gets nothing but its own variables", () => {
  const given = bareVariables("sandbox");
  expect(given).toContain("SANDBOX_TOKEN_HASH");
  for (const name of ["SANDBOX_TOKEN", "SERVICE_KEY", "DATABASE_URL", "NATS_URL", "APPLICATION_HOSTS", "SMTP_URL"])
    expect(given).not.toContain(name);
  expect(bareVariables("tool-runner")).toBeUndefined();
});
