import { secretSources, singleProcess, splitProcesses } from "./processes.ts";

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: "string" };
const flag: Schema = { type: "boolean" };
const port: Schema = { type: "integer", minimum: 1, maximum: 65_535 };
const texts: Schema = { type: "object", additionalProperties: { type: "string" } };
const anything: Schema = { type: "object" };
const list: Schema = { type: "array", items: { type: "object" } };
const count = (minimum: number): Schema => ({ type: "integer", minimum });
const oneOf = (...values: string[]): Schema => ({ type: "string", enum: values });
/** An object that has no other keys. */
const closed = (properties: Readonly<Record<string, Schema>>, more: Schema = {}): Schema => ({
  type: "object",
  additionalProperties: false,
  properties,
  ...more,
});

/** A variable's value; numbers and flags may be written without quotes. */
const settingValue: Schema = { $ref: "#/definitions/setting" };
/** Settings on which all processes must agree, so that none has its own, and the values that they may have. */
const OF_ALL: Readonly<Record<string, Schema>> = { NATS_STREAM_REPLICAS: { enum: [1, 3, 5, "1", "3", "5"] } };
/** What many processes have in common, so that the file stays short. */
const definitions: Readonly<Record<string, Schema>> = {
  setting: { type: ["string", "integer", "boolean"] },
  texts,
  autoscaling: autoscaling(oneOf("cpu")),
  queueAutoscaling: autoscaling(oneOf("cpu", "external", "keda")),
};

/** The JSON Schema of values.yaml. Combinations that need an explanation are refused by templates/checks.yaml instead. */
export function valuesSchema(): Schema {
  const split = splitProcesses();
  const processes = Object.entries({ ...split, toolgate: singleProcess() });
  const settings = (names: readonly string[]) =>
    closed(Object.fromEntries(names.map((name) => [name, OF_ALL[name] ?? settingValue])));
  const own = (names: readonly string[]) => settings(names.filter((name) => !OF_ALL[name]));
  const all = [...new Set(processes.flatMap(([, { settings }]) => settings))].toSorted();
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Values of the Toolgate chart",
    definitions,
    ...closed({
      global: anything,
      nameOverride: text,
      fullnameOverride: { type: "string", maxLength: 40 },
      topology: oneOf("split", "single"),
      image: closed({
        repository: { type: "string", minLength: 1 },
        tag: text,
        digest: { type: "string", pattern: "^(sha256:[0-9a-f]{64})?$" },
        pullPolicy: oneOf("Always", "IfNotPresent", "Never"),
        pullSecrets: { type: "array", items: closed({ name: text }) },
      }),
      bindAddress: oneOf("0.0.0.0", "::"),
      settings: settings(all),
      mail: closed({ enabled: flag }),
      processDefaults: processValues(closed({}), false),
      processes: closed(
        Object.fromEntries(
          processes.map(([name, facts]) => [name, processValues(own(facts.settings), "queue" in facts)]),
        ),
      ),
      pod: closed({
        annotations: texts,
        labels: texts,
        nodeSelector: texts,
        tolerations: list,
        priorityClassName: text,
        runAsUser: count(1),
        spreadOverZones: flag,
      }),
      sandbox: closed({
        isolation: oneOf("", "runtimeClass", "seccompProfile", "networkPolicy"),
        runtimeClassName: text,
        seccompProfile: text,
      }),
      secrets: closed(
        Object.fromEntries(
          Object.entries(secretSources()).map(([source, keys]) => [
            source,
            closed({ existingSecret: text, data: closed(Object.fromEntries(keys.map((key) => [key, text]))) }),
          ]),
        ),
      ),
      externalSecrets: closed({
        enabled: flag,
        refreshInterval: text,
        store: closed({ name: text, kind: oneOf("SecretStore", "ClusterSecretStore") }),
        prefix: text,
      }),
      trustedCertificates: closed({ configMap: text, key: text }),
      processCertificates: closed({ secret: text, perProcess: flag }),
      chatFiles: closed({ enabled: flag, existingClaim: text, storageClassName: text, size: text }),
      migrations: closed({
        mode: oneOf("hook", "job", "none"),
        createRoles: flag,
        annotations: texts,
        backoffLimit: count(0),
        activeDeadlineSeconds: count(1),
        resources: anything,
      }),
      serviceAccount: closed({ create: flag, name: text, annotations: texts }),
      service: closed({
        type: oneOf("ClusterIP", "NodePort", "LoadBalancer"),
        annotations: texts,
        port,
        ipFamilyPolicy: oneOf("", "SingleStack", "PreferDualStack", "RequireDualStack"),
      }),
      ingress: closed({
        enabled: flag,
        className: text,
        controller: oneOf("ingress-nginx", "traefik", "other"),
        host: text,
        tlsSecret: text,
        annotations: texts,
      }),
      gatewayApi: closed({ enabled: flag, parentRefs: list, hostnames: { type: "array", items: text } }),
      networkPolicy: closed({
        enabled: flag,
        callers: list,
        monitoring: list,
        dns: list,
        servers: closed(
          Object.fromEntries(
            ["postgres", "redis", "nats", "smtp"].map((name) => [
              name,
              closed({ to: { ...list, minItems: 1 }, ports: { type: "array", items: port, minItems: 1 } }),
            ]),
          ),
        ),
        internet: flag,
        modelServers: list,
        dataSources: list,
        extraEgress: list,
      }),
      disruptionBudgets: closed({ enabled: flag }),
      autoscaling: closed({
        pendingMetric: text,
        keda: closed({ natsMonitoringEndpoint: text, account: text, useHttps: flag, pollingSeconds: count(1) }),
      }),
      monitoring: closed({
        serviceMonitor: closed({ enabled: flag, interval: text, labels: texts }),
        rules: closed({ enabled: flag, labels: texts, runbooks: { type: "string", pattern: "/$" } }),
        dashboards: closed({ enabled: flag, labels: texts }),
      }),
      tests: closed({
        enabled: flag,
        keySecret: text,
        userSecret: text,
        workspace: text,
        webhook: flag,
        tool: text,
        arguments: anything,
      }),
    }),
  };
}

function processValues(settings: Schema, hasQueue: boolean): Schema {
  return closed({
    replicas: count(0),
    settings,
    resources: anything,
    preStopSeconds: count(0),
    annotations: { $ref: "#/definitions/texts" },
    nodeSelector: { $ref: "#/definitions/texts" },
    tolerations: list,
    autoscaling: { $ref: `#/definitions/${hasQueue ? "queueAutoscaling" : "autoscaling"}` },
  });
}

function autoscaling(metric: Schema): Schema {
  return closed({
    enabled: flag,
    minReplicas: count(1),
    maxReplicas: count(1),
    metric,
    cpuPercent: { type: "integer", minimum: 1, maximum: 1000 },
    pendingPerReplica: count(1),
    scaleDownSeconds: { type: "integer", minimum: 0, maximum: 3600 },
  });
}
