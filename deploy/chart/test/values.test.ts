import { describe, expect, test } from "vitest";
import { render, whyNoHelm } from "../src/helm.ts";

const missing = await whyNoHelm();
if (missing !== undefined) test.skip(`not run: checks of the chart's values (${missing})`, () => {});

/** Values, and what the refusal says. */
const REFUSED: readonly [why: string, set: string[], message: RegExp][] = [
  ["a key that does not exist", ["replicaz=3"], /replicaz is not allowed/],
  ["a process that does not exist", ['processes.worker={"replicas":1}'], /worker is not allowed/],
  ["a setting that nobody reads", ['settings={"PUBLIC_ULR":"x"}'], /PUBLIC_ULR is not allowed/],
  [
    "a setting of another process",
    ['processes.gateway={"settings":{"WORKER_CONCURRENCY":1}}'],
    /WORKER_CONCURRENCY is not allowed/,
  ],
  ["copies that NATS does not keep", ["settings.NATS_STREAM_REPLICAS=2"], /NATS_STREAM_REPLICAS must be one of/],
  [
    "copies for one process",
    ['processes.gateway={"settings":{"NATS_STREAM_REPLICAS":3}}'],
    /NATS_STREAM_REPLICAS is not allowed/,
  ],
  ["a setting for development", ['settings={"ALLOWED_TARGETS":"10.0.0.0/8"}'], /ALLOWED_TARGETS is not allowed/],
  ["a secret as a setting", ['settings={"SEALING_KEYS":"1:x"}'], /SEALING_KEYS is not allowed/],
  ["a wrong type", ['processes.gateway={"replicas":"many"}'], /processes\.gateway\.replicas: Invalid type/],
  ["a bad digest", ['image.digest="sha256:abc"'], /image\.digest: Does not match pattern/],
  ["no isolation of the sandbox", ['sandbox.isolation=""'], /sandbox\.isolation: choose/],
  [
    "a runtime class without its name",
    ['sandbox={"isolation":"runtimeClass","runtimeClassName":""}'],
    /runtimeClassName is missing/,
  ],
  [
    "a profile without its name",
    ['sandbox={"isolation":"seccompProfile","seccompProfile":""}'],
    /seccompProfile is missing/,
  ],
  ["nothing around the sandbox", ["networkPolicy.enabled=false"], /nothing would be left around the code of tools/],
  ["email without a sender", ["mail.enabled=true"], /MAIL_FROM is missing/],
  [
    "two sources of one Secret",
    ['secrets={"smtp":{"existingSecret":"a","data":{"SMTP_URL":"b"}}}'],
    /secrets\.smtp: give existingSecret or data/,
  ],
  [
    "a hash of another token",
    ['secrets={"sandbox-token":{"data":{"SANDBOX_TOKEN":"a","SANDBOX_TOKEN_HASH":"b"}}}'],
    /SANDBOX_TOKEN_HASH must be the SHA-256/,
  ],
  [
    "a Secret from values and from a store",
    [
      'externalSecrets={"enabled":true,"store":{"name":"s","kind":"SecretStore"}}',
      'secrets={"smtp":{"data":{"SMTP_URL":"b"}}}',
    ],
    /secrets\.smtp\.data: externalSecrets\.enabled makes this Secret/,
  ],
  ["a store without a name", ["externalSecrets.enabled=true"], /externalSecrets\.store\.name is missing/],
  [
    "an Ingress without a host",
    ['settings.TRUSTED_PROXIES="10.0.0.0/8"', "ingress.enabled=true"],
    /ingress\.host is missing/,
  ],
  ["a route without a Gateway", ["gatewayApi.enabled=true"], /parentRefs is missing/],
  ["two routes", ["gatewayApi.enabled=true", "ingress.enabled=true"], /choose one/],
  ["a proxy that is not trusted", ['ingress={"enabled":true,"host":"a.example"}'], /TRUSTED_PROXIES is missing/],
  ["a claim that is not used", ['chatFiles.existingClaim="uploads"'], /chatFiles\.enabled is false/],
  ["roles without a migration", ['migrations={"mode":"none","createRoles":true}'], /migrations\.mode is none/],
  [
    "more replicas at least than at most",
    ['processes.gateway={"autoscaling":{"enabled":true,"minReplicas":20}}'],
    /minReplicas is more/,
  ],
  [
    "a queue for a process without one",
    ['processes.gateway={"autoscaling":{"enabled":true,"metric":"keda"}}'],
    /processes\.gateway\.autoscaling\.metric/,
  ],
  [
    "KEDA without an address",
    ['processes.outbound-webhook-worker={"autoscaling":{"enabled":true,"metric":"keda"}}'],
    /natsMonitoringEndpoint is missing/,
  ],
  [
    "a share of no CPU",
    ['processes.gateway={"autoscaling":{"enabled":true},"resources":{"requests":{"memory":"1Gi"}}}'],
    /requests\.cpu is missing/,
  ],
  [
    "servers nowhere",
    ['networkPolicy.servers={"nats":{"to":[]}}'],
    /networkPolicy\.servers\.nats\.to: Array must have at least/,
  ],
];

describe.runIf(missing === undefined)("values that are refused, with the reason", () => {
  test.each(REFUSED)("%s", async (_, set, message) => {
    await expect(render("small", { set })).rejects.toThrow(message);
  });

  test("an old Kubernetes", async () => {
    await expect(render("small", { version: "1.29" as "1.30" })).rejects.toThrow(/kubeVersion: >=1\.30/);
  });
});

describe.runIf(missing === undefined)("values that count", () => {
  test("0 and false of a process replace what all have", async () => {
    const set = [
      "settings.DRAIN_MS=5000",
      'processes.gateway={"replicas":0,"preStopSeconds":0,"settings":{"DRAIN_MS":0}}',
    ];
    const { manifests } = await render("small", { set });
    const gateway = manifests.find(
      ({ kind, metadata }) => kind === "Deployment" && metadata.name === "toolgate-gateway",
    );
    expect(gateway?.spec.replicas).toBe(0);
    expect(gateway?.spec.template.spec.containers[0].lifecycle).toBeUndefined();
    expect(gateway?.spec.template.spec.containers[0].env).toContainEqual({ name: "DRAIN_MS", value: "0" });
  });

  test("large numbers are written in full", async () => {
    const { manifests } = await render("small", { set: ["settings.CHAT_STREAMS_PER_USER=1000000"] });
    expect(JSON.stringify(manifests)).toContain('{"name":"CHAT_STREAMS_PER_USER","value":"1000000"}');
  });

  test.each(["single", "production"])(
    "what a migration hook needs is removed after it, profile %s",
    async (profile) => {
      const { manifests } = await render(profile);
      const hooks = manifests.filter(({ metadata }) => metadata.annotations?.["helm.sh/hook"]?.startsWith("pre-"));
      // The Job, its network policy and its Secret.
      expect(hooks.map(({ metadata }) => metadata.name).toSorted()).toEqual([
        "toolgate-login-toolgate-migrations",
        "toolgate-migrations",
        "toolgate-migrations",
      ]);
      for (const { metadata } of hooks) {
        expect(metadata.annotations?.["helm.sh/hook-delete-policy"]).toBe("before-hook-creation,hook-succeeded");
      }
    },
  );

  test("400 waiting attempts ask for four workers, with 100 for each", async () => {
    const { manifests } = await render("production");
    const [scaler] = manifests.filter(
      ({ kind, spec }) => kind === "HorizontalPodAutoscaler" && spec.metrics[0].external,
    );
    expect(scaler?.spec.metrics[0].external).toEqual({
      metric: {
        name: "toolgate_consumer_pending",
        selector: { matchLabels: { consumer: "outbound-webhook-workers" } },
      },
      target: { type: "AverageValue", averageValue: "100" },
    });
  });
});
