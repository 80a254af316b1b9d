import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SERVICE_NAMES, type ServiceName, serviceEntry } from "@toolgate/service-registry/services";
import type { Rendered } from "../helm.ts";
import { REPOSITORY } from "../paths.ts";
import { podsOf } from "./pods.ts";

/** "give tool-runner 100 s (…), outbound-webhook 65 s", as docs/operators.md says under "Stopping". */
const STOPPING = /\*\*Stopping\.\*\*[\s\S]*?\n\n/;

/** The seconds that a service needs from SIGTERM to its end. */
export function documentedSeconds(service: ServiceName): number {
  const page = readFileSync(join(REPOSITORY, "docs/operators.md"), "utf8");
  const text =
    STOPPING.exec(page)?.[0]
      .replace(/\([^)]*\)/g, "")
      .replace(/\s+/g, " ") ?? "";
  const [, seconds] = new RegExp(`[ ,]${service} (\\d+) s`).exec(text) ?? [];
  const calls = serviceEntry(service).hotCalls.map(({ timeoutMs }) => timeoutMs / 1000);
  return Math.max(Number(seconds ?? 0), 0, ...calls);
}

/** A pod's grace period is longer than the pause before SIGTERM and what its services need after it. */
export function drainFaults(rendered: Rendered): string[] {
  return podsOf(rendered)
    .filter(({ owner }) => owner.kind === "Deployment")
    .flatMap(({ owner, labels, spec }) => {
      const component = labels["app.kubernetes.io/component"] ?? "";
      const services = SERVICE_NAMES.filter(
        (name) => component === "toolgate" || component === name || component.startsWith(`${name}-`),
      );
      const [container] = spec.containers;
      const pause = container.lifecycle?.preStop?.sleep?.seconds ?? 0;
      const env: { name: string; value?: string }[] = container.env;
      const gatewayMs = services.includes("gateway") ? env.find(({ name }) => name === "DRAIN_MS")?.value : undefined;
      const needed = Math.max(Number(gatewayMs ?? 0) / 1000 + 1, ...services.map(documentedSeconds));
      const given = spec.terminationGracePeriodSeconds ?? 30;
      return given < pause + needed
        ? [`${owner.metadata.name}: ${given} s of grace, but it pauses ${pause} s and drains for up to ${needed} s`]
        : [];
    });
}
