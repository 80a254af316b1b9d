import { type Manifest, RELEASE, type Rendered } from "../helm.ts";
import { secretSources } from "../processes.ts";
import { podsOf } from "./pods.ts";

type Labels = Readonly<Record<string, string>>;

const matches = (selector: Labels, labels: Labels) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);

/** Every selector finds pods, and every Service, policy and budget the pods of exactly one component. */
export function selectorFaults(rendered: Rendered): string[] {
  const pods = podsOf(rendered);
  return rendered.manifests.flatMap((manifest) => {
    const at = `${manifest.kind} ${manifest.metadata.name}`;
    const selector = selectorOf(manifest);
    if (!selector) return [];
    if (Object.keys(selector).length === 0) return [`${at}: selects all pods of the namespace`];
    const found = pods.filter(({ labels }) => matches(selector, labels));
    const owners = new Set(found.map(({ owner }) => owner.metadata.name));
    const own = manifest.kind === "Deployment" && found[0]?.owner !== manifest;
    if (owners.size !== 1 || own)
      return [`${at}: its selector finds the pods of ${[...owners].join(", ") || "nothing"}`];
    if (manifest.kind !== "Service") return [];
    const ports: { name: string }[] = found[0]?.spec.containers[0].ports ?? [];
    return manifest.spec.ports
      .filter((port: { targetPort: string }) => !ports.some(({ name }) => name === port.targetPort))
      .map((port: { targetPort: string }) => `${at}: its pods have no port ${port.targetPort}`);
  });
}

function selectorOf({ kind, spec }: Manifest): Labels | undefined {
  if (kind === "Service") return spec.selector ?? {};
  if (kind === "Deployment" || kind === "PodDisruptionBudget") return spec.selector.matchLabels ?? {};
  return kind === "NetworkPolicy" ? (spec.podSelector.matchLabels ?? {}) : undefined;
}

/** Every object that another one names exists: here, or outside by a value of the profile. */
export function referenceFaults(rendered: Rendered): string[] {
  const { manifests, values } = rendered;
  const made = (kind: string) => manifests.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name);
  const fullname: string = values.fullnameOverride ?? RELEASE;
  const secrets = knownSecrets(rendered, fullname);
  const accounts = ["default", values.serviceAccount?.name, ...made("ServiceAccount")];
  const claims = [values.chatFiles?.existingClaim, ...made("PersistentVolumeClaim")];
  const faults: string[] = [];
  for (const { owner, spec } of podsOf(rendered)) {
    const at = `${owner.kind} ${owner.metadata.name}`;
    if (!accounts.includes(spec.serviceAccountName)) faults.push(`${at}: no account ${spec.serviceAccountName}`);
    const volumes: Record<string, never>[] = spec.volumes ?? [];
    for (const { secret, configMap, persistentVolumeClaim } of volumes as Record<string, Record<string, string>>[]) {
      if (secret && !secrets[secret.secretName ?? ""]) faults.push(`${at}: no Secret ${secret.secretName}`);
      if (configMap && configMap.name !== values.trustedCertificates?.configMap) faults.push(`${at}: no ConfigMap`);
      const claim = persistentVolumeClaim?.claimName;
      if (persistentVolumeClaim && !claims.includes(claim)) faults.push(`${at}: no volume claim ${claim}`);
    }
    for (const { env = [], volumeMounts = [] } of spec.containers) {
      for (const { name, valueFrom } of env) {
        const { name: secret, key } = valueFrom?.secretKeyRef ?? {};
        if (valueFrom && !secrets[secret]?.includes(key)) faults.push(`${at}: ${name}: no key ${key} in ${secret}`);
      }
      const names = volumes.map(({ name }) => name);
      for (const { name } of volumeMounts) if (!names.includes(name as never)) faults.push(`${at}: no volume ${name}`);
    }
  }
  return [...faults, ...targetFaults(rendered)];
}

/** The Secrets that processes may refer to, each with its keys. */
function knownSecrets({ manifests, values }: Rendered, fullname: string): Record<string, readonly string[]> {
  const sources = Object.entries(secretSources());
  const known = sources.map(([source, keys]) => {
    return [values.secrets?.[source]?.existingSecret ?? `${fullname}-${source}`, keys] as const;
  });
  const given = manifests
    .filter(({ kind }) => kind === "Secret")
    .map(({ metadata, stringData = {} }) => [metadata.name, Object.keys(stringData)] as const);
  const fetched = manifests
    .filter(({ kind }) => kind === "ExternalSecret")
    .map(({ spec }) => {
      const source = sources.find(([name]) => spec.dataFrom[0].extract.key.endsWith(`/${name}`));
      return [spec.target.name as string, source?.[1] ?? []] as const;
    });
  const { secret, perProcess } = values.processCertificates ?? {};
  const deployments = manifests.filter(({ kind }) => kind === "Deployment");
  const names: string[] = perProcess
    ? deployments.map(({ metadata }) => metadata.name.replace(fullname, secret))
    : [secret ?? ""];
  const certificates = names.map((name) => [name, ["tls.crt", "tls.key", "ca.crt"]] as const);
  const test = [
    ...(values.tests?.keySecret ? [[values.tests.keySecret, ["API_KEY"]] as const] : []),
    ...(values.tests?.userSecret ? [[values.tests.userSecret, ["EMAIL", "PASSWORD"]] as const] : []),
  ];
  return Object.fromEntries([...known, ...given, ...fetched, ...certificates, ...test]);
}

/** What autoscalers scale and routes lead to. */
function targetFaults({ manifests }: Rendered): string[] {
  const has = (kind: string, name: string) => manifests.some((one) => one.kind === kind && one.metadata.name === name);
  return manifests.flatMap(({ kind, metadata, spec }) => {
    const deployment = spec?.scaleTargetRef?.name;
    if (deployment && !has("Deployment", deployment)) return [`${kind} ${metadata.name}: no Deployment ${deployment}`];
    const backends: { name: string; port: unknown }[] =
      kind === "Ingress"
        ? spec.rules.flatMap((rule: Manifest) => rule.http.paths.map((path: Manifest) => path.backend.service))
        : kind === "HTTPRoute"
          ? spec.rules.flatMap((rule: Manifest) => rule.backendRefs)
          : [];
    return backends.flatMap(({ name, port }) => {
      const service = manifests.find((one) => one.kind === "Service" && one.metadata.name === name);
      const wanted = typeof port === "number" ? port : (port as { name: string }).name;
      const ports = service?.spec.ports.flatMap((one: Manifest) => [one.name, one.port]) ?? [];
      return ports.includes(wanted) ? [] : [`${kind} ${metadata.name}: no Service ${name} with the port ${wanted}`];
    });
  });
}
