import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse, parseAllDocuments } from "yaml";
import { CHART } from "./paths.ts";

/** An object of Kubernetes, as the chart renders it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: checked against the schema of its kind
  readonly [field: string]: any;
}

/** What a chart makes of a profile. */
export interface Rendered {
  readonly manifests: readonly Manifest[];
  /** The profile's values. */
  // biome-ignore lint/suspicious/noExplicitAny: checked against values.schema.json
  readonly values: Readonly<Record<string, any>>;
}

export const PROFILES = ["small", "production", "keda", "gitops", "single", "air-gapped"] as const;
export const KUBERNETES_VERSIONS = ["1.30", "1.37"] as const;
export const RELEASE = "toolgate";
export const NAMESPACE = "tools";

const MAX_OUTPUT_BYTES = 20_000_000;
const run = promisify(execFile);

/** Why helm cannot run here; undefined if it can. The package with it has only the program for Linux on x86-64. */
export async function whyNoHelm(): Promise<string | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") return "helm's package is for Linux on x86-64";
  await run("helm", ["version"]);
  return undefined;
}

export function profileFile(profile: string): string {
  return join(CHART, "ci", `${profile}.yaml`);
}

/** Runs helm lint; rejects with its output if it has anything to say. */
export async function lint(profile: string, chart = CHART): Promise<void> {
  await run("helm", ["lint", "--strict", chart, "--values", profileFile(profile)]).catch(withOutput);
}

/** Renders a chart. Rejects with helm's message, or with what is wrong in the YAML that it wrote. */
export async function render(
  profile: string,
  {
    chart = CHART,
    version = KUBERNETES_VERSIONS[0],
    set = [],
  }: { chart?: string; version?: string; set?: string[] } = {},
): Promise<Rendered> {
  const file = profileFile(profile);
  const options = ["--namespace", NAMESPACE, "--kube-version", version, "--values", file];
  const more = set.flatMap((value) => ["--set-json", value]);
  const { stdout } = await run("helm", ["template", RELEASE, chart, ...options, ...more], {
    maxBuffer: MAX_OUTPUT_BYTES,
  }).catch(withOutput);
  const documents = parseAllDocuments(stdout);
  if (!Array.isArray(documents)) throw new Error("helm wrote nothing");
  const errors = documents.flatMap((document) => document.errors.map(({ message }) => message));
  if (errors.length > 0) throw new Error(errors.join("\n"));
  const manifests = documents.map((document) => document.toJS()).filter((manifest) => manifest !== null);
  return { manifests, values: parse(await readFile(file, "utf8")) };
}

function withOutput(error: Error & { stdout?: string; stderr?: string }): never {
  throw new Error(`${error.stderr ?? ""}${error.stdout ?? ""}` || error.message);
}
