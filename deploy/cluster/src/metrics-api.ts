import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { makeLoopbackCertificate } from "@toolgate/local-servers/certificate";
import { eventually } from "@toolgate/testbed/eventually";
import type { Api } from "./api.ts";

/** A series of Prometheus, as an adapter for the external metrics API finds it. */
export interface Series {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  value: number;
}

/** What autoscalers read: series, and the CPU of pods. */
export interface MetricsApi extends AsyncDisposable {
  readonly series: Series[];
  /** Millicores that each pod uses, by namespace. */
  readonly cpu: Map<string, number>;
}

const GROUPS = {
  "external.metrics.k8s.io": [{ name: "toolgate_consumer_pending", kind: "ExternalMetricValueList" }],
  "metrics.k8s.io": [{ name: "pods", kind: "PodMetrics" }],
} as const;
const VERSION = "v1beta1";
const NAMESPACE = "kube-system";
const NAME = "metrics";

/** Serves the metrics APIs from this process, and registers them with the API server. */
export async function startMetricsApi(api: Api): Promise<MetricsApi> {
  const { key, cert } = await makeLoopbackCertificate(new Date());
  const series: Series[] = [];
  const cpu = new Map<string, number>();
  const server = createServer({ key, cert }, async (request, response) => {
    const answer = await answerOf(new URL(request.url ?? "/", "https://localhost"), { series, cpu, api }).catch(String);
    const isFound = typeof answer === "object";
    response.writeHead(isFound ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isFound ? answer : { kind: "Status", status: "Failure", code: 404 }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await api.create(`/api/v1/namespaces/${NAMESPACE}/services`, {
    metadata: { name: NAME },
    spec: { type: "ExternalName", externalName: "localhost" },
  });
  const path = "/apis/apiregistration.k8s.io/v1/apiservices";
  const names = Object.keys(GROUPS).map((group) => `${VERSION}.${group}`);
  for (const [index, group] of Object.keys(GROUPS).entries()) {
    const service = { namespace: NAMESPACE, name: NAME, port };
    const spec = { group, version: VERSION, service, insecureSkipTLSVerify: true };
    const priorities = { groupPriorityMinimum: 100, versionPriority: 100 };
    await api.create(path, { metadata: { name: names[index] }, spec: { ...spec, ...priorities } });
  }
  for (const name of names) {
    await eventually(
      async () => {
        const conditions: { type: string; status: string }[] = (await api.get(`${path}/${name}`)).status.conditions;
        return conditions.some((one) => one.type === "Available" && one.status === "True");
      },
      { deadlineMs: 120_000, everyMs: 200 },
    );
  }
  return {
    series,
    cpu,
    async [Symbol.asyncDispose]() {
      for (const name of names) await api.delete(`${path}/${name}`);
      await api.delete(`/api/v1/namespaces/${NAMESPACE}/services/${NAME}`);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Sources = { series: readonly Series[]; cpu: ReadonlyMap<string, number>; api: Api };

/** What the metrics APIs say; undefined where they have nothing. */
async function answerOf({ pathname, searchParams }: URL, { series, cpu, api }: Sources): Promise<object | undefined> {
  const [, group = "", , namespace = "", resource] =
    /^\/apis\/([^/]+)\/v1beta1(\/namespaces\/([^/]+)\/([^/]+))?$/.exec(pathname) ?? [];
  if (!(group in GROUPS)) return undefined;
  const groupVersion = `${group}/${VERSION}`;
  const timestamp = new Date().toISOString();
  const selector = searchParams.get("labelSelector") ?? "";
  if (resource === undefined) {
    const resources = GROUPS[group as keyof typeof GROUPS].map((one) => ({
      ...one,
      namespaced: true,
      verbs: ["get"],
      singularName: "",
    }));
    return { kind: "APIResourceList", apiVersion: "v1", groupVersion, resources };
  }
  if (group === "metrics.k8s.io") {
    const pods = await api.list(`/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector)}`);
    const usage = { cpu: `${cpu.get(namespace) ?? 0}m`, memory: "64Mi" };
    const items = pods.map(({ metadata, spec }) => {
      const containers = spec.containers.map(({ name }: { name: string }) => ({ name, usage }));
      return {
        metadata: { name: metadata.name, namespace, labels: metadata.labels },
        timestamp,
        window: "15s",
        containers,
      };
    });
    return { kind: "PodMetricsList", apiVersion: groupVersion, metadata: {}, items };
  }
  const wanted = selector
    .split(",")
    .filter(Boolean)
    .map((part) => part.split("=") as [string, string]);
  const items = series
    .filter((one) => one.name === resource && one.namespace === namespace)
    .filter(({ labels }) => wanted.every(([name, value]) => labels[name] === value))
    .map(({ name, labels, value }) => ({ metricName: name, metricLabels: labels, timestamp, value: `${value}` }));
  return { kind: "ExternalMetricValueList", apiVersion: groupVersion, metadata: {}, items };
}
