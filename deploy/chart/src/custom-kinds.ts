/**
 * Schemas of the objects of other projects: only the fields that this chart uses, as these projects define them (KEDA 2.18,
 * Gateway API 1.4, Prometheus operator 0.86, External Secrets 1.0), so that a misspelt one is found.
 */
type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: "string", minLength: 1 };
const count: Schema = { type: "integer", minimum: 0 };
const texts: Schema = { type: "object", additionalProperties: { type: "string" } };
const duration: Schema = { type: "string", pattern: "^([0-9]+(h|m|s|ms))+$" };
const list = (items: Schema): Schema => ({ type: "array", items, minItems: 1 });
const closed = (properties: Readonly<Record<string, Schema>>, required = Object.keys(properties)): Schema => ({
  type: "object",
  additionalProperties: false,
  properties,
  required,
});

const metadata = closed({ name: text, namespace: text, labels: texts, annotations: texts }, ["name", "labels"]);
const custom = (apiVersion: string, kind: string, spec: Schema) => ({
  [`${apiVersion} ${kind}`]: closed({ apiVersion: { const: apiVersion }, kind: { const: kind }, metadata, spec }),
});

const policies = list(closed({ type: { enum: ["Pods", "Percent"] }, value: count, periodSeconds: count }));
const scaling = closed({ stabilizationWindowSeconds: count, selectPolicy: { enum: ["Max", "Min"] }, policies });

export const CUSTOM_KINDS: Readonly<Record<string, Schema>> = {
  ...custom(
    "keda.sh/v1alpha1",
    "ScaledObject",
    closed({
      scaleTargetRef: closed({ name: text }),
      pollingInterval: count,
      minReplicaCount: count,
      maxReplicaCount: count,
      fallback: closed({
        failureThreshold: count,
        replicas: count,
        behavior: { enum: ["static", "currentReplicas", "currentReplicasIfHigher", "currentReplicasIfLower"] },
      }),
      advanced: closed({
        horizontalPodAutoscalerConfig: closed({ behavior: closed({ scaleUp: scaling, scaleDown: scaling }) }),
      }),
      triggers: list(
        closed({
          type: { const: "nats-jetstream" },
          metadata: closed({
            natsServerMonitoringEndpoint: { type: "string", pattern: "^[^/]+:[0-9]+$" },
            account: text,
            stream: text,
            consumer: text,
            lagThreshold: { type: "string", pattern: "^[0-9]+$" },
            useHttps: { enum: ["true", "false"] },
          }),
        }),
      ),
    }),
  ),
  ...custom(
    "gateway.networking.k8s.io/v1",
    "HTTPRoute",
    closed(
      {
        parentRefs: list(closed({ name: text, namespace: text, sectionName: text }, ["name"])),
        hostnames: list(text),
        rules: list(
          closed({
            matches: list(closed({ path: closed({ type: { enum: ["PathPrefix", "Exact"] }, value: text }) })),
            timeouts: closed({ request: duration, backendRequest: duration }),
            backendRefs: list(closed({ name: text, port: { type: "integer", minimum: 1, maximum: 65_535 } })),
          }),
        ),
      },
      ["parentRefs", "rules"],
    ),
  ),
  ...custom(
    "monitoring.coreos.com/v1",
    "ServiceMonitor",
    closed({
      selector: closed({ matchLabels: texts }),
      namespaceSelector: closed({ matchNames: list(text) }),
      jobLabel: text,
      endpoints: list(closed({ port: text, path: text, interval: duration })),
    }),
  ),
  ...custom(
    "monitoring.coreos.com/v1",
    "PrometheusRule",
    closed({
      groups: list(
        closed(
          {
            name: text,
            interval: duration,
            rules: list(
              closed({ alert: text, record: text, expr: text, for: duration, labels: texts, annotations: texts }, [
                "expr",
              ]),
            ),
          },
          ["name", "rules"],
        ),
      ),
    }),
  ),
  ...custom(
    "external-secrets.io/v1",
    "ExternalSecret",
    closed({
      refreshInterval: duration,
      secretStoreRef: closed({ name: text, kind: { enum: ["SecretStore", "ClusterSecretStore"] } }),
      target: closed({ name: text }),
      dataFrom: list(closed({ extract: closed({ key: text }) })),
    }),
  ),
};
