import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { KUBERNETES_VERSIONS, type Manifest } from "./helm.ts";

/** Kinds of other projects, of which there are no schemas here. */
const OTHERS = ["ScaledObject", "HTTPRoute", "ServiceMonitor", "PrometheusRule", "ExternalSecret"];
export const nameOf = ({ metadata }: Manifest) => metadata.name;
export const componentOf = (manifest: Manifest) => manifest.metadata.labels?.["app.kubernetes.io/component"] ?? "";
export const podOf = ({ kind, spec }: Manifest) => (kind === "Pod" ? spec : spec?.template?.spec);
export const deploymentsOf = (manifests: readonly Manifest[]) => manifests.filter(({ kind }) => kind === "Deployment");
export const find = (manifests: readonly Manifest[], kind: string, component: string) =>
  manifests.find((one) => one.kind === kind && componentOf(one) === component);

/** What a version of Kubernetes finds wrong with an object. */
function checkerOf(version: string): (manifest: Manifest) => string[] {
  const file = readFileSync(new URL(`./kubernetes/${version}.json`, import.meta.url), "utf8");
  const { kinds, definitions } = JSON.parse(file);
  // The formats are Kubernetes' own, and only say how large numbers are.
  const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });
  ajv.addSchema({ $id: "https://kubernetes.invalid/", definitions });
  return (manifest) => {
    const reference = kinds[`${manifest.apiVersion} ${manifest.kind}`]?.$ref;
    const validate = ajv.getSchema(`https://kubernetes.invalid/${reference}`);
    void validate?.(manifest);
    const errors = validate ? (validate.errors ?? []) : [{ instancePath: "", message: "is of an unknown kind" }];
    return errors.map((error) => `${manifest.kind} ${nameOf(manifest)}${error.instancePath}: ${error.message}`);
  };
}

const CHECKERS = Object.fromEntries(KUBERNETES_VERSIONS.map((version) => [version, checkerOf(version)]));

export const schemaFaults = (manifests: readonly Manifest[], version: string) =>
  manifests
    .filter(({ kind }) => !OTHERS.includes(kind))
    .flatMap((one) => CHECKERS[version]?.(one) ?? [`no ${version}`]);
