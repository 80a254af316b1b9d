import { expect, test } from "vitest";
import { urlVariable, withheldVariables } from "./services.ts";

test("a process is given only what its service or its role needs: workers have neither the database nor secrets", () => {
  expect(withheldVariables("outbound-webhook", "worker")).toEqual([
    "DATABASE_URL",
    "DATABASE_CONNECTIONS",
    "REDIS_URL",
    "SEALING_KEYS",
  ]);
  expect(withheldVariables("outbound-webhook")).toEqual(["REDIS_URL"]);
  expect(withheldVariables("gateway")).toContain("SEALING_KEYS");
  expect(withheldVariables("key-auth")).toEqual([]);
});

test("the variable with a service's address follows from its name", () => {
  expect(urlVariable("outbound-webhook")).toBe("OUTBOUND_WEBHOOK_URL");
});
