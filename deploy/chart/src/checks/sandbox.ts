import { RELEASE, type Rendered } from "../helm.ts";
import { type ProcessFacts, singleProcess, splitProcesses } from "../processes.ts";
import { podsOf } from "./pods.ts";

const RUNS_TOOLS = "SANDBOX_DANGEROUSLY_WEAK_ISOLATION";

/** What surrounds the code of tools is what the profile asks for, at the process that runs it, and nowhere else. */
export function sandboxFaults(rendered: Rendered): string[] {
  const { isolation, runtimeClassName, seccompProfile } = rendered.values.sandbox;
  const known: Record<string, ProcessFacts> = { ...splitProcesses(), toolgate: singleProcess() };
  return podsOf(rendered).flatMap(({ owner, labels, spec }) => {
    const facts = known[labels["app.kubernetes.io/component"] ?? ""];
    if (owner.kind !== "Deployment" || !facts) return [];
    const at = owner.metadata.name;
    const faults: string[] = [];
    const runsTools = facts.managed.includes(RUNS_TOOLS);
    const runtime = runsTools && isolation === "runtimeClass" ? runtimeClassName : undefined;
    if (spec.runtimeClassName !== runtime) faults.push(`${at}: no runtime class ${runtime ?? "wanted"}`);
    const profile = runsTools && isolation === "seccompProfile" ? seccompProfile : undefined;
    if (spec.securityContext.seccompProfile.localhostProfile !== profile)
      faults.push(`${at}: no seccomp profile ${profile ?? "of the node wanted"}`);
    if (facts.isBare && mayBeIdentity(rendered, spec.serviceAccountName))
      faults.push(`${at}: its account may be a cloud identity`);
    return faults;
  });
}

/** Clouds give identities to accounts: to those with annotations, or to the one that a profile names. */
function mayBeIdentity({ manifests, values }: Rendered, account: string): boolean {
  const { create = true, name } = values.serviceAccount ?? {};
  const made = manifests.find(({ kind, metadata }) => kind === "ServiceAccount" && metadata.name === account);
  const isOfOthers = account === (name || (create ? RELEASE : undefined));
  return isOfOthers || Object.keys(made?.metadata.annotations ?? {}).length > 0;
}
