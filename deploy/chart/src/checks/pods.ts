import type { Manifest, Rendered } from "../helm.ts";

/** A pod that a manifest makes, with the name of that manifest. */
export interface PodOf {
  readonly owner: Manifest;
  readonly labels: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: checked against the schema of its kind
  readonly spec: any;
}

/** All pods of a render. */
export function podsOf({ manifests }: Rendered): PodOf[] {
  return manifests.flatMap((owner) => {
    if (owner.kind === "Pod") return [{ owner, labels: owner.metadata.labels ?? {}, spec: owner.spec }];
    const template = owner.spec?.template;
    return template?.spec ? [{ owner, labels: template.metadata?.labels ?? {}, spec: template.spec }] : [];
  });
}

/** The pod security standard "restricted", and what Toolgate adds to it. */
export function podSecurityFaults(rendered: Rendered): string[] {
  return podsOf(rendered).flatMap(({ owner, spec }) => {
    const faults: string[] = [];
    const at = `${owner.kind} ${owner.metadata.name}`;
    const must = (holds: unknown, rule: string) => {
      if (!holds) faults.push(`${at}: ${rule}`);
    };
    const { securityContext: pod = {} } = spec;
    must(pod.runAsNonRoot === true && pod.runAsUser > 0, "must not run as root");
    must(["RuntimeDefault", "Localhost"].includes(pod.seccompProfile?.type), "must have a seccomp profile");
    must(spec.automountServiceAccountToken === false, "must not get a token of its service account");
    must(spec.enableServiceLinks === false, "must not get the addresses of other Services in its environment");
    must(!spec.hostNetwork && !spec.hostPID && !spec.hostIPC, "must not use the node's namespaces");
    const kinds = (spec.volumes ?? []).map((volume: object) => Object.keys(volume).find((key) => key !== "name"));
    must(!kinds.includes("hostPath"), "must not mount files of the node");
    for (const container of [...spec.containers, ...(spec.initContainers ?? [])]) {
      const { securityContext: own = {} } = container;
      must(own.allowPrivilegeEscalation === false, "must not gain privileges");
      must(own.readOnlyRootFilesystem === true, "must have a read-only root file system");
      must(own.capabilities?.drop?.includes("ALL") && !own.capabilities.add, "must have no capabilities");
      must(own.privileged !== true, "must not be privileged");
      must(container.resources?.requests?.cpu && container.resources.requests.memory, "must request CPU and memory");
      must(container.resources?.limits?.memory, "must have a limit of memory");
      must(!/:latest$|:$/.test(container.image), "must name a version of its image");
    }
    return faults;
  });
}

const PROBES = ["startupProbe", "livenessProbe", "readinessProbe"] as const;
const PATHS: Readonly<Record<string, string>> = { readinessProbe: "/readyz" };

/** Probes of every long-running container, on ports that exist. */
export function probeFaults(rendered: Rendered): string[] {
  return podsOf(rendered)
    .filter(({ owner }) => owner.kind === "Deployment")
    .flatMap(({ owner, spec }) =>
      spec.containers.flatMap((container: Record<string, unknown>) => {
        const ports = ((container.ports ?? []) as { name: string }[]).map(({ name }) => name);
        return PROBES.flatMap((probe) => {
          const { path, port } = (container[probe] as { httpGet?: { path: string; port: string } })?.httpGet ?? {};
          const expected = PATHS[probe] ?? "/healthz";
          if (path !== expected) return [`${owner.metadata.name}: ${probe} must ask ${expected}`];
          if (port !== "ops" || !ports.includes(port)) return [`${owner.metadata.name}: ${probe} has no port ${port}`];
          return [];
        });
      }),
    );
}
