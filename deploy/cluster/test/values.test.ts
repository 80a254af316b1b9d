import { afterAll, beforeAll, expect, test } from "vitest";
import { createNamespace, type Namespace } from "./cluster.ts";
import { objectsIn } from "./leftovers.ts";

let namespace: Namespace;
beforeAll(async () => {
  namespace = await createNamespace();
});
afterAll(() => namespace[Symbol.asyncDispose]());

test("the namespace refuses pods that are not restricted", async () => {
  const pod = { metadata: { name: "free" }, spec: { containers: [{ name: "free", image: "toolgate:0.1.0" }] } };
  const created = namespace.api.create(`/api/v1/namespaces/${namespace.name}/pods`, pod);
  await expect(created).rejects.toThrow(/violates PodSecurity \\"restricted/);
});

test.each([
  ["a misspelt key", "replicaz=3", /replicaz/, /not allowed/],
  ["a number that is a text", 'processes.gateway.replicas="many"', /gateway.replicas/, /got string, want integer/],
  [
    "no isolation of the sandbox",
    'sandbox.isolation=""',
    /sandbox\.isolation: choose runtimeClass/,
    /docs\/kubernetes\.md/,
  ],
])("%s is refused with the reason, and nothing is installed", async (_, value, ...messages) => {
  const before = await objectsIn(namespace);
  const refused = await namespace.install("small", "--set-json", value).then(String, String);
  for (const message of messages) expect(refused).toMatch(message);
  expect(await objectsIn(namespace)).toEqual(before);
});

test("an upgrade with a bad value is refused too, and the release stays as it is", async () => {
  await namespace.install("small");
  const before = await objectsIn(namespace);
  await expect(namespace.upgrade("small", "--set-json", "replicaz=3")).rejects.toThrow(/replicaz/);
  expect(await objectsIn(namespace)).toEqual(before);
  expect(JSON.parse(await namespace.helm("history", "toolgate", "--output", "json"))).toHaveLength(1);
});
