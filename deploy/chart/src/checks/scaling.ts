import type { Manifest, Rendered } from "../helm.ts";

/** The number of replicas has one owner, and disruption budgets exist exactly for what has more than one. */
export function scalingFaults({ manifests }: Rendered): string[] {
  const named = (kinds: readonly string[], name: string) =>
    manifests.find((one) => kinds.includes(one.kind) && targetOf(one) === name);
  return manifests
    .filter(({ kind }) => kind === "Deployment")
    .flatMap(({ metadata: { name }, spec }) => {
      const scaler = named(["HorizontalPodAutoscaler", "ScaledObject"], name);
      const budget = named(["PodDisruptionBudget"], name);
      if (scaler && spec.replicas !== undefined) return [`${name}: both an autoscaler and replicas`];
      if (!scaler && spec.replicas === undefined) return [`${name}: neither an autoscaler nor replicas`];
      const least = scaler ? (scaler.spec.minReplicas ?? scaler.spec.minReplicaCount) : spec.replicas;
      if (budget && least < 2) return [`${name}: a disruption budget for one replica blocks the draining of nodes`];
      if (!budget && least > 1) return [`${name}: no disruption budget`];
      return scaler ? behaviorFaults(name, scaler) : [];
    });
}

/** Budgets have the name of what they protect. */
function targetOf({ kind, metadata, spec }: Manifest): string {
  return kind === "PodDisruptionBudget" ? metadata.name : spec.scaleTargetRef?.name;
}

const MIN_SCALE_DOWN_SECONDS = 120;

function behaviorFaults(name: string, { spec }: Manifest): string[] {
  const down = (spec.behavior ?? spec.advanced?.horizontalPodAutoscalerConfig?.behavior)?.scaleDown;
  if (!down || down.stabilizationWindowSeconds < MIN_SCALE_DOWN_SECONDS) return [`${name}: scales down too fast`];
  const [least, most] = [spec.minReplicas ?? spec.minReplicaCount, spec.maxReplicas ?? spec.maxReplicaCount];
  return least > most ? [`${name}: at least ${least} replicas, at most ${most}`] : [];
}
