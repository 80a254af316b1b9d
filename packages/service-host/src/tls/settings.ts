import { TLS_VARIABLES } from "@toolgate/service-registry/services";
import type { EnvReader } from "../env.ts";

/** PEM files: the process's own certificate (with those between it and the authority), its key, and the authorities. */
export interface TlsFiles {
  certFile: string;
  keyFile: string;
  caFile: string;
}

/** Undefined when connections between processes are not encrypted. It is a violation to set only some of the three. */
export function readTlsFiles(reader: EnvReader): TlsFiles | undefined {
  const [certFile = "", keyFile = "", caFile = ""] = TLS_VARIABLES.map((name) => reader.text(name, ""));
  const missing = missingVariables(reader);
  if (missing.length === TLS_VARIABLES.length) return undefined;
  if (missing.length > 0)
    reader.fail(`${missing.join(" and ")} must be set too: ${TLS_VARIABLES.join(", ")} are used together`);
  return { certFile, keyFile, caFile };
}

/**
 * The base URLs of other processes of the installation: https if this one has certificates, otherwise http. Any other
 * scheme is a violation.
 */
export function readProcessUrls(reader: EnvReader, name: string, fallback?: string): string {
  const urls = reader.baseUrls(name, fallback);
  const schemes = new Set(urls.split(",").map((url) => URL.parse(url.trim())?.protocol));
  if (urls === "" || !(schemes.has("https:") || schemes.has("http:"))) return urls;
  const missing = missingVariables(reader);
  if (missing.length === 0 && schemes.has("http:"))
    reader.fail(`${name} must be https URLs, because TLS_CERT_FILE is set`);
  if (missing.length === TLS_VARIABLES.length && schemes.has("https:"))
    reader.fail(`${name} must be http URLs, unless ${TLS_VARIABLES.join(", ")} are set`);
  return urls;
}

function missingVariables(reader: EnvReader): string[] {
  return TLS_VARIABLES.filter((name) => reader.text(name, "") === "");
}
