import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { GARBAGE_OPTIONS } from "@toolgate/local/service-process";
import { PUBLIC_NETWORKS } from "@toolgate/safe-fetch/address";
import { SERVICE_NAMES, serviceEntry } from "@toolgate/service-registry/services";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { CHART, KUBERNETES_VERSIONS, lint, type Manifest, noHelm, PROFILES, render } from "./helm.ts";
import { componentOf, deploymentsOf, find, nameOf, podOf, schemaFaults } from "./manifests.ts";

if (noHelm !== undefined) test.skip(`not run: checks of the chart (${noHelm})`, () => {});

const SECRET_VARIABLES = [
  ...[
    "DATABASE_URL",
    "REDIS_URL",
    "NATS_URL",
    "SERVICE_KEY",
    "SERVICE_PUBLIC_KEYS",
    "SEALING_KEYS",
    "SANDBOX_TOKEN_HASH",
  ],
  ...SERVICE_NAMES.flatMap((name) => serviceEntry(name).variables.flatMap((one) => (one.secret ? [one.name] : []))),
];

const readProcesses = () => parse(readFileSync(`${CHART}files/processes.yaml`, "utf8"));

describe.runIf(noHelm === undefined).each(PROFILES)("profile %s", (profile) => {
  let manifests: Manifest[];
  let deployments: Manifest[];
  beforeAll(async () => {
    manifests = await render(profile);
    deployments = deploymentsOf(manifests);
  });

  test("helm lint has nothing to say", () => lint(profile));

  test.each(KUBERNETES_VERSIONS)("Kubernetes %s knows every field", async (version) => {
    expect(schemaFaults(await render(profile, [], version), version)).toEqual([]);
  });

  test("every pod is restricted, as the pod security standard says, and has limits", () => {
    for (const manifest of manifests.filter(podOf)) {
      const pod = podOf(manifest);
      expect(pod.securityContext, nameOf(manifest)).toMatchObject({ runAsNonRoot: true, runAsUser: 10001 });
      expect(pod.securityContext.seccompProfile.type).toMatch(/^(RuntimeDefault|Localhost)$/);
      expect([pod.automountServiceAccountToken, pod.enableServiceLinks, pod.hostNetwork]).toEqual([
        false,
        false,
        undefined,
      ]);
      for (const { securityContext, resources } of pod.containers) {
        const wanted = {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        };
        expect(securityContext, nameOf(manifest)).toEqual(wanted);
        expect(resources.requests).toEqual({ cpu: expect.anything(), memory: expect.anything() });
        expect(resources.limits.memory).toBeDefined();
      }
    }
  });

  test("no secret is in plain view, and each comes from the process's own Secret", () => {
    const { split, single } = readProcesses();
    for (const manifest of deployments) {
      const component = componentOf(manifest);
      const { secrets } = component === "toolgate" ? single : split[component];
      for (const { name, value, valueFrom } of podOf(manifest).containers[0].env) {
        if (SECRET_VARIABLES.includes(name)) expect(value, `${component} ${name}`).toBeUndefined();
        if (!valueFrom) continue;
        const { name: secret, key } = valueFrom.secretKeyRef;
        const existing = profile === "production" && name === "SEALING_KEYS" ? "toolgate-sealing" : undefined;
        const fullname = profile === "air-gapped" ? "tg" : "toolgate";
        expect([secret, key]).toEqual([existing ?? `${fullname}-${secrets[name]}`, name]);
      }
    }
  });

  test("probes ask the operations port, and Node has the options of make run", () => {
    for (const manifest of deployments) {
      const [container] = podOf(manifest).containers;
      expect(container.ports).toContainEqual(expect.objectContaining({ name: "ops" }));
      expect(container.startupProbe.httpGet).toEqual({ path: "/healthz", port: "ops" });
      expect(container.livenessProbe.httpGet).toEqual({ path: "/healthz", port: "ops" });
      expect(container.readinessProbe.httpGet).toEqual({ path: "/readyz", port: "ops" });
      expect(container.command).toEqual(["node", ...GARBAGE_OPTIONS, expect.stringMatching(/^(services|deploy)\//)]);
    }
  });

  test("the grace period covers the pause before SIGTERM and the longest call", () => {
    for (const manifest of deployments) {
      const { terminationGracePeriodSeconds: given, containers } = podOf(manifest);
      const component = componentOf(manifest);
      const calls = SERVICE_NAMES.filter((name) => component === "toolgate" || component.startsWith(name)).flatMap(
        (name) => serviceEntry(name).hotCalls.map(({ timeoutMs }) => timeoutMs),
      );
      const drainMs = containers[0].env.find(({ name }: { name: string }) => name === "DRAIN_MS")?.value;
      const needed = Math.max(30_000, Number(drainMs ?? 40_000), ...calls) / 1000;
      expect(given, component).toBeGreaterThan(containers[0].lifecycle.preStop.sleep.seconds + needed);
    }
  });

  test("Services, policies and budgets select the pods of one process, and Services name ports that these have", () => {
    for (const manifest of manifests) {
      const { podSelector, selector } = manifest.spec ?? {};
      const labels = podSelector?.matchLabels ?? selector?.matchLabels ?? selector;
      if (!labels || manifest.kind === "ServiceMonitor") continue;
      const found = manifests.filter((one) => {
        const own = one.kind === "Pod" ? one.metadata.labels : one.spec?.template?.metadata?.labels;
        return own && Object.entries(labels).every(([name, value]) => own[name] === value);
      });
      expect(found.map(componentOf), `${manifest.kind} ${nameOf(manifest)}`).toEqual([componentOf(manifest)]);
      if (manifest.kind !== "Service" || !found[0]) continue;
      const ports = podOf(found[0]).containers[0].ports.map(({ name }: { name: string }) => name);
      for (const { targetPort } of manifest.spec.ports) expect(ports).toContain(targetPort);
    }
  });

  test("the number of replicas has one owner, and a budget exists for whatever has more than one", () => {
    for (const manifest of deployments) {
      const component = componentOf(manifest);
      const scaler =
        find(manifests, "HorizontalPodAutoscaler", component) ?? find(manifests, "ScaledObject", component);
      expect(scaler === undefined, component).toBe(manifest.spec.replicas !== undefined);
      const least = scaler ? (scaler.spec.minReplicas ?? scaler.spec.minReplicaCount) : manifest.spec.replicas;
      const budget = find(manifests, "PodDisruptionBudget", component);
      expect(budget?.spec.maxUnavailable, component).toBe(least > 1 ? 1 : undefined);
    }
  });

  test("every pod has one policy for both directions, and only what needs the internet reaches public addresses", () => {
    const { split, single } = readProcesses();
    for (const manifest of manifests.filter(podOf)) {
      const component = componentOf(manifest);
      const facts = component === "toolgate" ? single : split[component];
      const { policyTypes, egress } = find(manifests, "NetworkPolicy", component)?.spec ?? {};
      expect(policyTypes, component).toEqual(["Ingress", "Egress"]);
      if (facts?.isBare) expect(egress, component).toEqual([]);
      type Rule = { to?: { ipBlock?: { cidr: string } }[] };
      const open = egress.filter(({ to }: Rule) => to?.some(({ ipBlock }) => ipBlock?.cidr === "0.0.0.0/0"));
      const usesModels = profile === "keda" && facts?.service === "chat";
      const isOpen = facts?.reachesInternet && profile !== "air-gapped" && !usesModels;
      expect(open, component).toEqual(isOpen ? [{ to: PUBLIC_NETWORKS.map((ipBlock) => ({ ipBlock })) }] : []);
    }
  });

  test("the process that runs tools is isolated as the profile says, and no other is", async () => {
    const { sandbox } = parse(await readFile(`${CHART}ci/${profile}.yaml`, "utf8"));
    for (const manifest of deployments) {
      const runsTools = ["sandbox", "toolgate"].includes(componentOf(manifest));
      const { runtimeClassName, securityContext, containers, serviceAccountName } = podOf(manifest);
      const own = runsTools ? sandbox : {};
      expect([runtimeClassName, securityContext.seccompProfile.localhostProfile]).toEqual([
        own.runtimeClassName,
        own.seccompProfile,
      ]);
      const names = containers[0].env.map(({ name }: { name: string }) => name);
      const isWeak = names.includes("SANDBOX_DANGEROUSLY_WEAK_ISOLATION");
      expect(isWeak).toBe(runsTools && sandbox.isolation === "networkPolicy");
      if (componentOf(manifest) !== "sandbox") continue;
      // It gets the hash of its token, no other secret, no address and no cloud identity.
      expect(names.filter((name: string) => SECRET_VARIABLES.includes(name))).toEqual(["SANDBOX_TOKEN_HASH"]);
      expect(names.filter((name: string) => name.endsWith("_URL"))).toEqual([]);
      expect(find(manifests, "ServiceAccount", "processes")?.metadata.name).not.toBe(serviceAccountName);
    }
  });
});
