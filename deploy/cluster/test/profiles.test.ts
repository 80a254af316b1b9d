import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROFILES } from "../../chart-tests/helm.ts";
import { createNamespace, everythingIsReady, type Namespace, PATIENCE } from "./cluster.ts";
import { objectsIn } from "./leftovers.ts";
import { prepare } from "./profiles.ts";

/** Objects that stay on purpose, see docs/kubernetes.md. */
const KEPT: Readonly<Record<string, string[]>> = {
  production: ["persistentvolumeclaim/toolgate-chat-files"],
};

describe.each(PROFILES)("profile %s", (profile) => {
  let namespace: Namespace;
  let before: string[];
  beforeAll(async () => {
    namespace = await createNamespace();
    await prepare(namespace, profile);
    before = await eventually(async () => {
      const objects = await objectsIn(namespace);
      return objects.includes("configmap/kube-root-ca.crt") && objects;
    }, PATIENCE);
  });
  afterAll(() => namespace[Symbol.asyncDispose]());

  test("it installs where the restricted pod security standard is enforced, and everything becomes ready", async () => {
    const output = await namespace.install(profile);
    expect(output).toMatch(/STATUS: deployed/);
    // The API server warns of fields that it does not know and of kinds that will be removed.
    expect(output).not.toMatch(/warning/i);
    expect((await namespace.deployments()).length).toBe(profile === "single" ? 1 : 12);
    await eventually(() => everythingIsReady(namespace), PATIENCE);
  });

  test("the pods are spread over nodes and zones", async () => {
    for (const { metadata, spec } of await namespace.deployments()) {
      const pods = await namespace.pods(metadata.labels?.["app.kubernetes.io/component"] ?? "");
      const nodes = pods.map((pod): string => pod.spec.nodeName);
      expect(pods.length).toBe(spec.replicas);
      expect(new Set(nodes).size, `${metadata.name} on ${nodes}`).toBe(Math.min(nodes.length, 6));
      const zones = new Set(nodes.map((node) => node.slice(0, -1)));
      expect(zones.size, `${metadata.name} on ${nodes}`).toBe(Math.min(nodes.length, 3));
    }
  });

  test.skipIf(profile === "gitops")("helm test ends with the pod's exit code", async () => {
    expect(await namespace.helm("test", "toolgate")).toMatch(/Phase: +Succeeded/);
  });

  test("an upgrade without a change changes nothing", async () => {
    const versions = async () => {
      const deployments = await namespace.deployments();
      return deployments.map(({ metadata }) => [metadata.name, (metadata as Record<string, unknown>).generation]);
    };
    const generations = await versions();
    await namespace.upgrade(profile);
    expect(await versions()).toEqual(generations);
  });

  test("nothing is left once it is uninstalled, but what is kept on purpose", async () => {
    await namespace.helm("uninstall", "toolgate", "--wait", "--timeout", "150s");
    // Its log is there until the next helm test.
    await namespace.kubectl("delete", "pod", "--selector=app.kubernetes.io/component=test");
    await eventually(async () => {
      expect(await objectsIn(namespace)).toEqual([...before, ...(KEPT[profile] ?? [])].sort());
    }, PATIENCE);
  });
});
