import { KUBERNETES_VERSIONS, type Rendered } from "../helm.ts";
import { schemaFaults } from "../schemas.ts";
import { drainFaults } from "./draining.ts";
import { environmentFaults } from "./environment.ts";
import { monitoringFaults } from "./monitoring.ts";
import { networkFaults } from "./network.ts";
import { objectFaults } from "./objects.ts";
import { podSecurityFaults, probeFaults } from "./pods.ts";
import { referenceFaults, selectorFaults } from "./references.ts";
import { sandboxFaults } from "./sandbox.ts";
import { scalingFaults } from "./scaling.ts";

/** Everything that is wrong with what a profile renders, one line each. */
export async function faultsOf(rendered: Rendered): Promise<string[]> {
  const { manifests } = rendered;
  return [
    ...KUBERNETES_VERSIONS.flatMap((version) => schemaFaults(manifests, version)),
    ...objectFaults(rendered),
    ...podSecurityFaults(rendered),
    ...probeFaults(rendered),
    ...selectorFaults(rendered),
    ...referenceFaults(rendered),
    ...scalingFaults(rendered),
    ...sandboxFaults(rendered),
    ...drainFaults(rendered),
    ...networkFaults(rendered),
    ...monitoringFaults(rendered),
    ...(await environmentFaults(rendered)),
  ];
}
