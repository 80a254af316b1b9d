import { readFile } from "node:fs/promises";
import { SERVICE_NAMES, serviceEntry } from "@toolgate/service-registry/services";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { CHART, type Manifest, noHelm, render } from "./helm.ts";
import { componentOf, deploymentsOf, find, nameOf, podOf, schemaFaults } from "./manifests.ts";

if (noHelm !== undefined) test.skip(`not run: values of the chart (${noHelm})`, () => {});

describe.runIf(noHelm === undefined)("values", () => {
  test("the processes are those of the registry, in values, schema and list", async () => {
    const expected = SERVICE_NAMES.flatMap((service) => {
      const roles = Object.keys(serviceEntry(service).roles ?? {});
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
