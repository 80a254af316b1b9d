import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, inject } from "vitest";
import { CHART, profileFile, RELEASE } from "../../chart-tests/helm.ts";
import { type Address, Api, ApiError, type KubernetesObject } from "../src/api.ts";
import { programFile } from "../src/programs.ts";

declare module "vitest" {
  interface ProvidedContext {
    cluster: { address: Address; kubeconfig: string; folder: string };
  }
}

/** As long as a test waits for what a busy machine does late. */
export const PATIENCE = { deadlineMs: 240_000, everyMs: 250 };
const WAIT = ["--wait", "--timeout", "150s"];
/** Longer than helm and kubectl wait by themselves. */
const COMMAND_TIMEOUT_MS = 240_000;
const MAX_OUTPUT_BYTES = 50_000_000;
const RESTRICTED = {
  "pod-security.kubernetes.io/enforce": "restricted",
  "pod-security.kubernetes.io/enforce-version": "latest",
};
const run = promisify(execFile);

/** A namespace that enforces the restricted pod security standard, with a release in it or without. */
export interface Namespace extends AsyncDisposable {
  readonly name: string;
  readonly api: Api;
  /** Runs helm in it. Rejects with everything that helm said. */
  helm(...args: string[]): Promise<string>;
  kubectl(...args: string[]): Promise<string>;
  /** Installs the chart with a profile and waits until everything is ready. */
  install(profile: string, ...more: string[]): Promise<string>;
  upgrade(profile: string, ...more: string[]): Promise<string>;
  deployments(): Promise<KubernetesObject[]>;
  deployment(process: string): Promise<KubernetesObject>;
  pods(process: string): Promise<KubernetesObject[]>;
}

let count = 0;

export async function createNamespace(): Promise<Namespace> {
  const { address, kubeconfig, folder } = inject("cluster");
  const api = new Api(address);
  const name = `tools-${process.pid}-${++count}`;
  await api.create("/api/v1/namespaces", { metadata: { name, labels: RESTRICTED } });
  // Pods of an account that does not exist yet are refused.
  await eventually(() => api.get(`/api/v1/namespaces/${name}/serviceaccounts/default`), PATIENCE);
  const env = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    HELM_CACHE_HOME: join(folder, "helm"),
    HELM_CONFIG_HOME: join(folder, "helm"),
    HELM_DATA_HOME: join(folder, "helm"),
  };
  const call = async (program: "helm" | "kubectl", args: readonly string[]) => {
    const options = { env, maxBuffer: MAX_OUTPUT_BYTES, timeout: COMMAND_TIMEOUT_MS };
    const { stdout, stderr } = await run(programFile(program), ["--namespace", name, ...args], options).catch(
      (error) => {
        throw new Error(`${program} ${args[0]}: ${error.stderr}${error.stdout}` || error.message);
      },
    );
    return `${stdout}${program === "helm" ? stderr : ""}`;
  };
  const namespace: Namespace = {
    name,
    api,
    helm: (...args) => call("helm", args),
    kubectl: (...args) => call("kubectl", args),
    install: (profile, ...more) =>
      call("helm", ["install", RELEASE, CHART, "--values", profileFile(profile), ...WAIT, ...more]),
    upgrade: (profile, ...more) =>
      call("helm", ["upgrade", RELEASE, CHART, "--values", profileFile(profile), ...WAIT, ...more]),
    deployments: () => api.list(`/apis/apps/v1/namespaces/${name}/deployments`),
    deployment: (of) => api.get(`/apis/apps/v1/namespaces/${name}/deployments/${RELEASE}-${of}`),
    async pods(of) {
      const selector = encodeURIComponent(`app.kubernetes.io/component=${of}`);
      const pods = await api.list(`/api/v1/namespaces/${name}/pods?labelSelector=${selector}`);
      return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    },
    async [Symbol.asyncDispose]() {
      await api.delete(`/api/v1/namespaces/${name}`);
      // The next test drains nodes and counts objects.
      const isGone = (error: unknown) => error instanceof ApiError && error.status === 404;
      await eventually(() => api.get(`/api/v1/namespaces/${name}`).then(() => false, isGone), PATIENCE);
    },
  };
  return namespace;
}

/** Fails while a Deployment has fewer ready pods than it should, or fewer than its autoscaler wants at least. */
export async function everythingIsReady(namespace: Namespace): Promise<void> {
  const path = `/apis/autoscaling/v2/namespaces/${namespace.name}/horizontalpodautoscalers`;
  const least = new Map(
    (await namespace.api.list(path)).map(({ metadata, spec }) => [metadata.name, spec.minReplicas]),
  );
  for (const { metadata, spec, status } of await namespace.deployments()) {
    expect(spec.replicas, metadata.name).toBeGreaterThanOrEqual(least.get(metadata.name) ?? 0);
    expect(status.readyReplicas ?? 0, metadata.name).toBe(spec.replicas);
    expect(status.updatedReplicas ?? 0, metadata.name).toBe(spec.replicas);
  }
}
