import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { GARBAGE_OPTIONS } from "@toolgate/local/service-process";
import { PUBLIC_NETWORKS } from "@toolgate/safe-fetch/address";
import { SERVICE_NAMES, serviceEntry } from "@toolgate/service-registry/services";
import { Ajv } from "ajv";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { CHART, KUBERNETES_VERSIONS, lint, type Manifest, noHelm, PROFILES, render } from "./helm.ts";

if (noHelm !== undefined) test.skip(`not run: checks of the chart (${noHelm})`, () => {});

/** Kinds of other projects, of which there are no schemas here. */
const OTHERS = ["ScaledObject", "HTTPRoute", "ServiceMonitor", "PrometheusRule", "ExternalSecret"];
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

const nameOf = ({ metadata }: Manifest) => metadata.name;
const componentOf = (manifest: Manifest) => manifest.metadata.labels?.["app.kubernetes.io/component"] ?? "";
const podOf = ({ kind, spec }: Manifest) => (kind === "Pod" ? spec : spec?.template?.spec);
const deploymentsOf = (manifests: readonly Manifest[]) => manifests.filter(({ kind }) => kind === "Deployment");
const find = (manifests: readonly Manifest[], kind: string, component: string) =>
  manifests.find((one) => one.kind === kind && componentOf(one) === component);
const readProcesses = () => parse(readFileSync(`${CHART}files/processes.yaml`, "utf8"));

/** What a version of Kubernetes finds wrong with an object. */
function checkerOf(version: string): (manifest: Manifest) => string[] {
  const file = readFileSync(new URL(`./kubernetes/${version}.json`, import.meta.url), "utf8");
  const { kinds, definitions } = JSON.parse(file);
  // The formats are Kubernetes' own, and only say how large numbers are.
  const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });
  ajv.addSchema({ $id: "https://kubernetes.invalid/", definitions });
  return (manifest) => {
    const reference = kinds[`${manifest.apiVersion} ${manifest.kind}`]?.$ref;
    const validate = ajv.getSchema(`https://kubernetes.invalid/${reference}`);
    void validate?.(manifest);
    const errors = validate ? (validate.errors ?? []) : [{ instancePath: "", message: "is of an unknown kind" }];
    return errors.map((error) => `${manifest.kind} ${nameOf(manifest)}${error.instancePath}: ${error.message}`);
  };
}

const CHECKERS = Object.fromEntries(KUBERNETES_VERSIONS.map((version) => [version, checkerOf(version)]));

const schemaFaults = (manifests: readonly Manifest[], version: string) =>
  manifests
    .filter(({ kind }) => !OTHERS.includes(kind))
    .flatMap((one) => CHECKERS[version]?.(one) ?? [`no ${version}`]);

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
      const runsTools = ["tool-runner-sandbox", "toolgate"].includes(componentOf(manifest));
      const { runtimeClassName, securityContext, containers, serviceAccountName } = podOf(manifest);
      const own = runsTools ? sandbox : {};
      expect([runtimeClassName, securityContext.seccompProfile.localhostProfile]).toEqual([
        own.runtimeClassName,
        own.seccompProfile,
      ]);
      const names = containers[0].env.map(({ name }: { name: string }) => name);
      const isWeak = names.includes("SANDBOX_DANGEROUSLY_WEAK_ISOLATION");
      expect(isWeak).toBe(runsTools && sandbox.isolation === "networkPolicy");
      if (componentOf(manifest) !== "tool-runner-sandbox") continue;
      // It gets the hash of its token, no other secret, no address and no cloud identity.
      expect(names.filter((name: string) => SECRET_VARIABLES.includes(name))).toEqual(["SANDBOX_TOKEN_HASH"]);
      expect(names.filter((name: string) => name.endsWith("_URL"))).toEqual([]);
      expect(find(manifests, "ServiceAccount", "processes")?.metadata.name).not.toBe(serviceAccountName);
    }
  });
});

describe.runIf(noHelm === undefined)("values", () => {
  test("the processes are those of the registry, in values, schema and list", async () => {
    const expected = SERVICE_NAMES.flatMap((service) => {
      const roles = Object.keys(serviceEntry(service).roles ?? {});
      if (service === "tool-runner") return ["tool-runner", "tool-runner-sandbox"];
      return roles.length === 0 ? [service] : roles.map((role) => `${service}-${role}`);
    });
    const schema = JSON.parse(await readFile(`${CHART}values.schema.json`, "utf8"));
    const { processes } = parse(await readFile(`${CHART}values.yaml`, "utf8"));
    for (const list of [Object.keys(processes), Object.keys(schema.properties.processes.properties)])
      expect(list.toSorted()).toEqual([...expected, "toolgate"].toSorted());
    expect(
      deploymentsOf(await render("small"))
        .map(componentOf)
        .toSorted(),
    ).toEqual(expected.toSorted());
  });

  test("whatever the schema refuses is named", async () => {
    const set = [
      "replicaz=3",
      'processes={"worker":{"replicas":1},"gateway":{"replicas":"many"}}',
      'ingress={"host":"https://a.example"}',
      'networkPolicy.servers={"nats":{"to":[]}}',
    ];
    const message = await render("small", set).then(String, String);
    for (const fault of [
      "replicaz is not allowed",
      "worker is not allowed",
      "processes.gateway.replicas: Invalid type",
      "ingress.host: Does not match pattern",
      "nats.to: Array must have at least",
    ])
      expect(message).toContain(fault);
  });

  test.each([
    ["a setting that nobody reads", ['settings={"PUBLIC_ULR":"x"}'], /PUBLIC_ULR is not allowed/],
    [
      "a setting of another process",
      ['processes.gateway={"settings":{"WORKER_CONCURRENCY":1}}'],
      /WORKER_CONCURRENCY is not/,
    ],
    [
      "one process's copies of streams",
      ['processes.gateway={"settings":{"NATS_STREAM_REPLICAS":3}}'],
      /set it under settings/,
    ],
    ["a setting for development", ['settings={"ALLOWED_TARGETS":"10.0.0.0/8"}'], /ALLOWED_TARGETS is not allowed/],
    ["a secret as a setting", ['settings={"SEALING_KEYS":"1:x"}'], /SEALING_KEYS is not allowed/],
    ["a Secret that nobody has", ['secrets={"login-worker":{"existingSecret":"x"}}'], /login-worker is not allowed/],
    ["no isolation of the sandbox", ['sandbox.isolation=""'], /sandbox\.isolation: choose/],
    ["nothing around the sandbox", ["networkPolicy.enabled=false"], /nothing would be left around the code of tools/],
    ["email without a sender", ["mail.enabled=true"], /MAIL_FROM is missing/],
    [
      "two sources of one Secret",
      ['secrets={"smtp":{"existingSecret":"a","data":{"SMTP_URL":"b"}}}'],
      /give existingSecret or data/,
    ],
    [
      "a hash of another token",
      ['secrets={"sandbox-token":{"data":{"SANDBOX_TOKEN":"a","SANDBOX_TOKEN_HASH":"b"}}}'],
      /must be the SHA-256/,
    ],
    ["a proxy that is not trusted", ['ingress={"enabled":true,"host":"a.example"}'], /TRUSTED_PROXIES is missing/],
    [
      "more replicas at least than at most",
      ['processes.gateway={"autoscaling":{"enabled":true,"minReplicas":20}}'],
      /minReplicas is more/,
    ],
    [
      "a queue of a process without one",
      ['processes.gateway={"autoscaling":{"enabled":true,"metric":"external"}}'],
      /it has no queue/,
    ],
  ])("%s is refused with the reason", async (_, set, message) => {
    await expect(render("small", set)).rejects.toThrow(message);
  });

  /** Every value that becomes a text of its own in an object. */
  const textsAs = (text: string) => [
    `nameOverride="${text}"`,
    `fullnameOverride="a${text}"`,
    `image={"repository":"${text}","tag":"${text}"}`,
    `serviceAccount.name="${text}"`,
    `pod={"priorityClassName":"${text}","labels":{"a":"${text}"},"annotations":{"a":"${text}"},"nodeSelector":{"a":"${text}"}}`,
    `secrets={"smtp":{"existingSecret":"${text}"},"sealing-keys":{"existingSecret":"${text}"}}`,
    `sandbox={"isolation":"runtimeClass","runtimeClassName":"${text}"}`,
    `ingress={"className":"${text}","tlsSecret":"${text}"}`,
    `chatFiles={"storageClassName":"${text}"}`,
    `processCertificates={"secret":"${text}"}`,
    `tests={"keySecret":"${text}","userSecret":"${text}","workspace":"${text}"}`,
    `monitoring={"serviceMonitor":{"labels":{"a":"${text}"}}}`,
  ];

  test.each(["1234", "1e3", "null"])("a text that looks like something else (%s) stays a text", async (text) => {
    for (const profile of ["production", "single"] as const) {
      expect(schemaFaults(await render(profile, textsAs(text)), "1.30")).toEqual([]);
    }
  });

  test.each(["1234", "a.b", "9".repeat(53)])("the names of a release %s are allowed", async (release) => {
    const manifests = await render("production", [], "1.30", release);
    expect(schemaFaults(manifests, "1.30")).toEqual([]);
    // Names of Secrets may be longer.
    const others = manifests.filter(({ kind }) => !kind.endsWith("Secret"));
    const names = others.map(nameOf).filter((name) => !/^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(name));
    expect(names).toEqual([]);
  });

  test("0 of a process replaces what all have, and large numbers are written in full", async () => {
    const own = 'processes.gateway={"replicas":0,"preStopSeconds":0,"settings":{"DRAIN_MS":0}}';
    const manifests = await render("small", ["settings.DRAIN_MS=5000", "settings.CHAT_STREAMS_PER_USER=1000000", own]);
    const gateway = find(manifests, "Deployment", "gateway");
    expect(gateway?.spec.replicas).toBe(0);
    const [container] = podOf(gateway as Manifest).containers;
    expect(container.lifecycle).toBeUndefined();
    expect(container.env).toContainEqual({ name: "DRAIN_MS", value: "0" });
    expect(container.env).toContainEqual({ name: "CHAT_STREAMS_PER_USER", value: "1000000" });
  });

  test("workers scale on waiting attempts, by external metrics and by KEDA", async () => {
    const worker = "outbound-webhook-worker";
    const { spec } = find(await render("production"), "HorizontalPodAutoscaler", worker) as Manifest;
    const selector = { matchLabels: { consumer: "outbound-webhook-workers" } };
    expect(spec.metrics[0].external).toEqual({
      metric: { name: "toolgate_consumer_pending", selector },
      target: { type: "AverageValue", averageValue: "100" },
    });
    expect(spec.behavior.scaleDown.stabilizationWindowSeconds).toBe(300);
    const scaled = find(await render("keda"), "ScaledObject", worker) as Manifest;
    expect(scaled.spec.triggers).toEqual([
      {
        type: "nats-jetstream",
        metadata: {
          natsServerMonitoringEndpoint: "nats.nats.svc:8222",
          account: "$G",
          stream: "ATTEMPTS",
          consumer: "outbound-webhook-workers",
          lagThreshold: "100",
          useHttps: "false",
        },
      },
    ]);
  });

  test("what a migration hook needs comes before it and is removed after it", async () => {
    const manifests = await render("single");
    const hooks = manifests.filter(
      ({ metadata }) => metadata.annotations?.["helm.sh/hook"] === "pre-install,pre-upgrade",
    );
    const names = hooks.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted();
    expect(names).toEqual([
      "Job toolgate-migrations",
      "NetworkPolicy toolgate-migrations",
      "Secret toolgate-login-toolgate-migrations",
    ]);
    for (const { metadata } of hooks)
      expect(metadata.annotations?.["helm.sh/hook-delete-policy"]).toBe("before-hook-creation,hook-succeeded");
  });
});
