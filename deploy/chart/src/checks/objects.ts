import type { Rendered } from "../helm.ts";

const MAX_NAME_CHARACTERS = 63;

/** What holds for every object: one of each name, in the release's namespace, with the usual labels. */
export function objectFaults({ manifests }: Rendered): string[] {
  const seen = new Set<string>();
  return manifests.flatMap(({ kind, metadata }) => {
    const at = `${kind} ${metadata.name}`;
    const faults: string[] = [];
    if (seen.has(at)) faults.push(`${at}: exists twice`);
    seen.add(at);
    if (metadata.name.length > MAX_NAME_CHARACTERS) faults.push(`${at}: the name is too long`);
    if (!metadata.namespace) faults.push(`${at}: no namespace`);
    for (const label of ["name", "instance", "component", "version", "managed-by"]) {
      if (!metadata.labels?.[`app.kubernetes.io/${label}`]) faults.push(`${at}: no label ${label}`);
    }
    return faults;
  });
}
