import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultsOf } from "../src/checks/all.ts";
import { render, whyNoHelm } from "../src/helm.ts";
import { CHART } from "../src/paths.ts";

const missing = await whyNoHelm();
if (missing !== undefined) test.skip(`not run: faults in copies of the chart (${missing})`, () => {});

/** What is changed in which file, with which profile it shows, and what the checks say. */
type Fault = [name: string, file: string, from: string, to: string, finding: RegExp, profile?: string];

const POD = "templates/_pod.tpl";
const DEPLOYMENTS = "templates/deployments.yaml";
const POLICIES = "templates/network-policies.yaml";
const FACTS = "files/processes.yaml";

const FAULTS: readonly Fault[] = [
  ["a misspelt field", DEPLOYMENTS, "revisionHistoryLimit:", "revisionHistoryLimits:", /revisionHistoryLimits/],
  [
    "a field that is a text instead of a number",
    DEPLOYMENTS,
    "progressDeadlineSeconds: 600",
    'progressDeadlineSeconds: "600"',
    /progressDeadlineSeconds: must be/,
  ],
  [
    "a key that is written twice",
    DEPLOYMENTS,
    "  revisionHistoryLimit: 5",
    "  revisionHistoryLimit: 5\n  revisionHistoryLimit: 6",
    /unique/,
  ],
  ["a misspelt field of KEDA", "templates/autoscaling.yaml", "lagThreshold:", "lagTreshold:", /lagTreshold/, "keda"],
  [
    "a selector that matches nothing",
    "templates/services.yaml",
    'selector:\n    {{- include "toolgate.selector" (dict "root" $ "component" $name)',
    'selector:\n    {{- include "toolgate.selector" (dict "root" $ "component" "none")',
    /finds the pods of nothing/,
  ],
  [
    "a Service for a port that no pod has",
    "templates/services.yaml",
    "targetPort: {{ $port }}",
    "targetPort: web",
    /no port web/,
  ],
  [
    "a probe of a port that does not exist",
    DEPLOYMENTS,
    "path: /readyz, port: ops",
    "path: /readyz, port: probes",
    /readinessProbe has no port probes/,
  ],
  [
    "no liveness probe",
    DEPLOYMENTS,
    "livenessProbe:\n            httpGet: { path: /healthz, port: ops }",
    "livenessProbe:",
    /livenessProbe must ask/,
  ],
  [
    "a container with capabilities",
    POD,
    "capabilities: { drop: [ALL] }",
    "capabilities: { drop: [NET_RAW] }",
    /no capabilities/,
  ],
  [
    "a writable root file system",
    POD,
    "readOnlyRootFilesystem: true",
    "readOnlyRootFilesystem: false",
    /read-only root/,
  ],
  ["a pod that may run as root", POD, "runAsNonRoot: true", "runAsNonRoot: false", /run as root/],
  ["no seccomp profile", POD, "type: RuntimeDefault", "type: Unconfined", /seccomp/],
  [
    "a token in every pod",
    POD,
    "automountServiceAccountToken: false",
    "automountServiceAccountToken: true",
    /token of its service account/,
  ],
  [
    "replicas next to an autoscaler",
    DEPLOYMENTS,
    "if not $values.autoscaling.enabled",
    "if true",
    /both an autoscaler and replicas/,
    "production",
  ],
  [
    "a budget for one replica",
    "templates/disruption-budgets.yaml",
    "| int) 1) }}",
    "| int) 0) }}",
    /one replica blocks/,
  ],
  [
    "a fast scale-down",
    "values.yaml",
    "scaleDownSeconds: 300",
    "scaleDownSeconds: 0",
    /scales down too fast/,
    "production",
  ],
  [
    "a Secret that does not exist",
    POD,
    '"source" $source) }}, key:',
    '"source" "login") }}, key:',
    /no key .* in toolgate-login/,
  ],
  ["a key that its Secret does not have", POD, "key: {{ $variable }} } }", "key: VALUE } }", /no key VALUE/],
  [
    "an account that does not exist",
    DEPLOYMENTS,
    'serviceAccountName: {{ ternary (include "toolgate.bareAccountName" $) (include "toolgate.serviceAccountName" $) $facts.isBare }}',
    "serviceAccountName: runner",
    /no account runner/,
  ],
  [
    "a volume that does not exist",
    DEPLOYMENTS,
    "{ name: tmp, mountPath: /tmp }",
    "{ name: temp, mountPath: /tmp }",
    /no volume temp/,
  ],
  [
    "a variable that the service does not read",
    POD,
    "name: BIND_HOST,",
    "name: BIND_ADDRESS,",
    /BIND_ADDRESS is not a variable/,
  ],
  [
    "a worker with the database",
    FACTS,
    "NATS_URL: login-outbound-webhook-worker",
    "NATS_URL: login-outbound-webhook-worker\n      DATABASE_URL: login-outbound-webhook",
    /worker: must not have DATABASE_URL/,
  ],
  [
    "a service without the address of its peer",
    FACTS,
    "      OUTBOUND_WEBHOOK_URL:\n        process: outbound-webhook-manager\n        port: 7003\n",
    "",
    /OUTBOUND_WEBHOOK_URL is missing/,
  ],
  [
    "a server that listens only to its own pod",
    "values.yaml",
    "bindAddress: 0.0.0.0",
    "bindAddress: 127.0.0.1",
    /bindAddress must be one of/,
  ],
  [
    "a grace period shorter than the drain",
    DEPLOYMENTS,
    "add ($values.preStopSeconds | int) $drainSeconds",
    "min $drainSeconds 40",
    /40 s of grace/,
  ],
  [
    "DRAIN_MS without a longer grace period",
    DEPLOYMENTS,
    "max ($facts.drainSeconds | int) (add (div $drainMs 1000) 10)",
    "$facts.drainSeconds | int",
    /50 s|60 s of grace/,
    "production",
  ],
  [
    "a program that does not exist",
    FACTS,
    "program: services/chat/src/main.ts",
    "program: services/chat/main.ts",
    /no program/,
  ],
  [
    "a sandbox with a secret of tool-runner",
    FACTS,
    "SANDBOX_TOKEN_HASH: sandbox-token",
    "SANDBOX_TOKEN_HASH: sandbox-token\n      SANDBOX_TOKEN: sandbox-token",
    /sandbox: must not have SANDBOX_TOKEN/,
  ],
  [
    "a sandbox that asks DNS",
    POLICIES,
    "if $process.facts.isBare",
    "if false",
    /sandbox: must reach nothing, not even DNS/,
  ],
  [
    "a sandbox with the account of a cloud identity",
    DEPLOYMENTS,
    'ternary (include "toolgate.bareAccountName" $) (include "toolgate.serviceAccountName" $) $facts.isBare',
    'include "toolgate.serviceAccountName" $',
    /sandbox: its account may be a cloud identity/,
  ],
  [
    "a sandbox without its runtime class",
    DEPLOYMENTS,
    'and $runsTools (eq $.Values.sandbox.isolation "runtimeClass")',
    "false",
    /sandbox: no runtime class gvisor/,
    "production",
  ],
  [
    "a sandbox without its seccomp profile",
    DEPLOYMENTS,
    'ternary $.Values.sandbox.seccompProfile ""',
    'ternary "" ""',
    /sandbox: no seccomp profile profiles/,
    "air-gapped",
  ],
  [
    "tool-runner without the address of its sandbox",
    FACTS,
    "      SANDBOX_URL:\n        process: tool-runner-sandbox\n        port: 7002\n",
    "",
    /SANDBOX_TOKEN needs SANDBOX_URL/,
  ],
  [
    "Node with its default young generation",
    DEPLOYMENTS,
    "--max-semi-space-size=4, ",
    "",
    /other options than make run/,
  ],
  ["a private range that is left out", FACTS, "      - 172.16.0.0/12\n", "", /private address 172\.16\.0\.1/],
  [
    "an address range that is malformed",
    FACTS,
    "      - 169.254.0.0/16",
    "      - 169.254.0.0/12",
    /bits set after the prefix/,
  ],
  ["all of IPv6", FACTS, "cidr: 2000::/3", "cidr: ::/0", /private address fc00::1/],
  [
    "a policy without IPv6",
    FACTS,
    "  - cidr: 2000::/3\n    except:\n      - 2001::/23\n      - 2001:db8::/32\n      - 2002::/16\n      - 3fff::/20\n",
    "",
    /does not reach the public address 2606/,
  ],
  [
    "the internet for everyone",
    POLICIES,
    "if and $process.facts.reachesInternet $policy.internet",
    "if $policy.internet",
    /key-auth: reaches the public address/,
  ],
  ["a policy that lets every pod in", POLICIES, 'component" $caller)', 'component" $name)', /refuses/],
  ["no DNS over TCP", POLICIES, ", { port: 53, protocol: TCP }", "", /no DNS over TCP/],
  [
    "a policy for egress only",
    POLICIES,
    "policyTypes: [Ingress, Egress]",
    "policyTypes: [Egress]",
    /one policy for both directions/,
  ],
  [
    "a route to a port that does not exist",
    "templates/routes.yaml",
    "port: { name: http }",
    "port: { name: web }",
    /no Service .* port web/,
    "production",
  ],
];

describe.runIf(missing === undefined)("a fault in a copy of the chart is found", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "toolgate-chart-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(FAULTS)("%s", async (name, file, from, to, finding, profile = "small") => {
    const chart = join(folder, name.replaceAll(" ", "-"));
    await cp(CHART, chart, { recursive: true });
    const text = await readFile(join(chart, file), "utf8");
    expect(text).toContain(from);
    await writeFile(join(chart, file), text.replaceAll(from, to));
    const found = await render(profile, { chart }).then(faultsOf, (error: Error) => [error.message]);
    expect(found.join("\n")).toMatch(finding);
  });
});
