import { expect, test } from "vitest";
import { environmentOf, SERVICE_NAMES, type ServiceName, serviceEntry, urlVariable } from "./services.ts";

/** What opens a door. */
const SECRETS = [
  ...["DATABASE_URL", "REDIS_URL", "NATS_URL", "SEALING_KEYS", "SERVICE_KEY"],
  ...SERVICE_NAMES.flatMap((name) => serviceEntry(name).variables.flatMap((one) => (one.secret ? [one.name] : []))),
];
const ALL = Object.fromEntries([...SECRETS, "OTEL_X", "SANDBOX_TOKEN_HASH"].map((name) => [name, "x"]));

test.each<[ServiceName, string | undefined, string[]]>([
  ["gateway", undefined, ["NATS_URL", "SERVICE_KEY", "OTEL_X"]],
  ["key-auth", undefined, ["DATABASE_URL", "REDIS_URL", "NATS_URL", "SEALING_KEYS", "SERVICE_KEY", "OTEL_X"]],
  ["tool-runner", undefined, [...SECRETS, "OTEL_X"]],
  ["outbound-webhook", "worker", ["NATS_URL", "OTEL_X"]],
  ["outbound-webhook", "fan-out", ["DATABASE_URL", "NATS_URL", "SEALING_KEYS", "OTEL_X"]],
  ["outbound-webhook", "manager", ["DATABASE_URL", "NATS_URL", "SEALING_KEYS", "SERVICE_KEY", "OTEL_X"]],
  ["outbound-webhook", "dispatcher", ["DATABASE_URL", "NATS_URL", "SEALING_KEYS", "SERVICE_KEY", "SMTP_URL", "OTEL_X"]],
  ["sandbox", undefined, ["SANDBOX_TOKEN_HASH"]],
])("a process of %s (%s) gets the secrets that it needs, and no other", (service, role, expected) => {
  expect(new Set(Object.keys(environmentOf(service, role, ALL)))).toEqual(new Set(expected));
});

test("the variable with a service's address follows from its name", () => {
  expect(urlVariable("outbound-webhook")).toBe("OUTBOUND_WEBHOOK_URL");
});
