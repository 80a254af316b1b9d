import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContext } from "node:tls";
import type { TlsFiles } from "./settings.ts";

/** The content of the files, in PEM. */
interface CertificateTexts {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** Certificates that a process can use. */
export interface Certificates extends CertificateTexts {
  /** For connections that the process opens. */
  readonly context: SecureContext;
  /** When its own certificate expires, in milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/** Connections between processes of one version of Toolgate need nothing older. */
export const MIN_VERSION = "TLSv1.3" as const;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu;
const BEGIN = /-----BEGIN /gu;
const SERVER_USE = "1.3.6.1.5.5.7.3.1";
const CLIENT_USE = "1.3.6.1.5.5.7.3.2";

/** Rejects when a file cannot be read: with the first of them, so that it is always the same one. */
export async function readTexts({ certFile, keyFile, caFile }: TlsFiles): Promise<CertificateTexts> {
  const cert = await textOf("TLS_CERT_FILE", certFile);
  const key = await textOf("TLS_KEY_FILE", keyFile);
  const ca = await textOf("TLS_CA_FILE", caFile);
  return { cert, key, ca };
}

async function textOf(variable: string, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new Error(`the file in ${variable} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/**
 * Checks that the files are complete, fit together, and are valid now, so that the process is admitted by others that
 * have the same authorities. Node itself ignores a damaged authority. Throws an error that names what is wrong.
 */
export function certificatesFrom(texts: CertificateTexts, nowMs: number): Certificates {
  const [own, ...between] = parse("TLS_CERT_FILE", texts.cert);
  const authorities = parse("TLS_CA_FILE", texts.ca);
  if (!own) throw new Error("TLS_CERT_FILE has no certificate");
  if (!own.checkPrivateKey(privateKey(texts.key)))
    throw new Error("the key in TLS_KEY_FILE does not belong to the first certificate in TLS_CERT_FILE");
  const [from, until] = [own.validFromDate, own.validToDate];
  if (nowMs < from.getTime() || nowMs > until.getTime())
    throw new Error(
      `the certificate in TLS_CERT_FILE is valid only from ${from.toISOString()} until ${until.toISOString()}`,
    );
  const uses = own.keyUsage as readonly string[] | undefined;
  if (uses && !(uses.includes(SERVER_USE) && uses.includes(CLIENT_USE)))
    throw new Error("the certificate in TLS_CERT_FILE must be usable for servers and for clients (extended key usage)");
  if (!isSigned(own, between, authorities))
    throw new Error("the certificate in TLS_CERT_FILE is not signed by an authority in TLS_CA_FILE");
  const context = createSecureContext({ ...texts, minVersion: MIN_VERSION });
  return { ...texts, context, expiresAtMs: until.getTime() };
}

/** At least one certificate. Throws when one is damaged or incomplete. */
function parse(variable: string, text: string): X509Certificate[] {
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0 || blocks.length !== text.match(BEGIN)?.length)
    throw new Error(`${variable} must have certificates in PEM, and nothing else`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    throw new Error(`${variable} has a damaged certificate`);
  }
}

function privateKey(text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    throw new Error("TLS_KEY_FILE must have a private key in PEM, without a passphrase");
  }
}

/** Whether a chain leads to an authority. It is followed at most once through each certificate. */
function isSigned(own: X509Certificate, between: X509Certificate[], authorities: X509Certificate[]): boolean {
  const candidates = new Set(between);
  let current = own;
  for (;;) {
    if (authorities.some((authority) => hasSigned(authority, current))) return true;
    const next = [...candidates].find((candidate) => hasSigned(candidate, current));
    if (!next) return false;
    candidates.delete(next);
    current = next;
  }
}

function hasSigned(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
