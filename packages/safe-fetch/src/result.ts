import { errors } from "undici";
import type { TargetUrlFailure } from "./target-url.ts";

/**
 * How long the phases took, in milliseconds; null for a phase that was not reached or not needed (a kept connection
 * has neither connect nor TLS). `firstByteMs` runs from handing the request over to the head of the response.
 * `address` is the IP connected to, `reused` says that the connection was kept from an earlier send.
 */
export type Timings = {
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number | null;
  totalMs: number;
  address: string | null;
  reused: boolean;
};

/** The phase in which a deadline ran out. */
export type Phase = "dns" | "connect" | "tls" | "send" | "headers";

/** Why a request has to end early. */
export type StopReason = "deadline" | "aborted";

/** Why a body is incomplete; false when it is complete. */
export type Truncated = false | "size" | "deadline" | "connection" | "aborted";

/** Why a streamed body ended early. */
export class BodyCut extends Error {
  readonly reason: Exclude<Truncated, false>;

  constructor(reason: Exclude<Truncated, false>) {
    super(`the body is incomplete: ${reason}`);
    this.name = "BodyCut";
    this.reason = reason;
  }
}

/** A complete status line and header block arrived within the deadline, even if the body did not. */
type FetchResponse = {
  kind: "response";
  status: number;
  headers: Record<string, string | string[]>;
  body: Buffer;
  truncated: Truncated;
  timings: Timings;
};

/** Nothing was sent and no connection made. `reason` may be shown to the customer. */
type FetchRefused = {
  kind: "refused";
  code: "address" | "url" | "request";
  reason: string;
  url?: TargetUrlFailure;
  timings: Timings;
};

/** The deadline ran out before the header block was complete. */
type FetchTimeout = { kind: "timeout"; phase: Phase; timings: Timings };

/** The exchange broke before the header block was complete. `message` may be shown to the customer. */
type FetchConnectionError = {
  kind: "connection-error";
  code: ConnectionFailure;
  message: string;
  timings: Timings;
};

/** The caller's signal fired, or the owner was disposed, before the header block was complete. */
type FetchAborted = { kind: "aborted"; timings: Timings };

/** How a request ended that got no response. */
export type FetchFailure = FetchRefused | FetchTimeout | FetchConnectionError | FetchAborted;

/** How a send ended. Every outcome is data. */
export type SafeFetchResult = FetchResponse | FetchFailure;

/** What went wrong with a connection, in terms that tell customers about their own server and nothing about ours. */
export type ConnectionFailure =
  | "dns"
  | "refused"
  | "unreachable"
  | "closed"
  | "certificate"
  | "certificate-expired"
  | "certificate-not-yet-valid"
  | "certificate-untrusted"
  | "tls"
  | "headers-too-large"
  | "protocol"
  | "other";

const MESSAGES: Record<ConnectionFailure, string> = {
  dns: "the host name does not resolve",
  refused: "the connection was refused",
  unreachable: "the host cannot be reached",
  closed: "the connection was closed before the response was complete",
  certificate: "the certificate is not valid for this host",
  "certificate-expired": "the certificate has expired",
  "certificate-not-yet-valid": "the certificate is not valid yet",
  "certificate-untrusted":
    "the certificate is not signed by a trusted authority, or an intermediate certificate is missing",
  tls: "the TLS handshake failed",
  "headers-too-large": "the response headers are too large",
  protocol: "the response is not valid HTTP/1.1",
  other: "the connection failed",
};

const BY_CODE: Readonly<Record<string, ConnectionFailure>> = {
  ECONNREFUSED: "refused",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  EADDRNOTAVAIL: "unreachable",
  EAFNOSUPPORT: "unreachable",
  ETIMEDOUT: "unreachable",
  ECONNRESET: "closed",
  EPIPE: "closed",
  CONNECTION_CLOSED: "closed",
  UND_ERR_SOCKET: "closed",
  UND_ERR_INFO: "closed",
  UND_ERR_HEADERS_OVERFLOW: "headers-too-large",
  TOO_MANY_RESPONSE_BYTES: "protocol",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "protocol",
  ERR_TLS_CERT_ALTNAME_INVALID: "certificate",
  CERT_HAS_EXPIRED: "certificate-expired",
  CERT_NOT_YET_VALID: "certificate-not-yet-valid",
  EPROTO: "tls",
};

const UNTRUSTED_CODE = /^(?:UNABLE_TO_(?:GET|VERIFY)_|CERT_UNTRUSTED|DEPTH_ZERO_|SELF_SIGNED_)/;
const CERTIFICATE_CODE = /^(?:UNABLE_TO_|CERT_|CRL_|ERROR_IN_CERT|HOSTNAME_MISMATCH|INVALID_)/;

/** The neutral sentence of a failure; safe to show and to store. */
export function failureMessage(failure: ConnectionFailure): string {
  return MESSAGES[failure];
}

/** Sorts an error of the socket, the TLS layer or the HTTP parser. `inHandshake`: TCP was up, TLS was not yet. */
export function classifyFailure(error: unknown, inHandshake: boolean): ConnectionFailure {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  if (UNTRUSTED_CODE.test(code)) return "certificate-untrusted";
  if (CERTIFICATE_CODE.test(code)) return BY_CODE[code] ?? "certificate";
  if (error instanceof errors.HTTPParserError) return "protocol";
  if (code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_PROTOCOL")) return "tls";
  const failure = BY_CODE[code] ?? "other";
  return inHandshake && failure === "closed" ? "tls" : failure;
}
