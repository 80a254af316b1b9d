import { MAX_SIGNATURE_HEADER_CHARS, parseSignatureHeader, parseUnixTime } from "./parse-header.ts";

/** Longest text of headers that callers may have read, in UTF-16 units. */
export const MAX_HEADER_TEXT_CHARS = 16_384;

/** Signatures of one request that are looked at. */
const MAX_SIGNATURES = 8;

/** Which headers carry the signature: `X-Service-Signature`, or the three of Standard Webhooks. */
export type SignatureScheme = "service" | "standard";

/** What a request's headers say about its signature, as sent: `fault` says which part is malformed, if any. */
export type SignatureHeaders = {
  scheme: SignatureScheme | undefined;
  fault: string;
  /** The time as it is in the signed text; empty when there is none. */
  timeText: string;
  /** `webhook-id`; empty in the other scheme. */
  id: string;
  /** The values of `v1`: hexadecimal in the service scheme, base64 in the standard one. */
  signatures: readonly string[];
  /** The delivery that the headers name, or empty. */
  deliveryId: string;
};

const HEX = /^[0-9a-fA-F]{64}$/;
const BASE64 = /^[A-Za-z0-9+/]{43}=$/;
const HEADER_LINE = /^[ \t]*([A-Za-z0-9-]+)[ \t]*:(.*)$/;

/**
 * Reads pasted header lines of either scheme, names in any case, among other headers; or only the value of
 * `X-Service-Signature`. When headers of both are there, `X-Service-Signature` counts. Never throws.
 */
export function readSignatureHeaders(text: string): SignatureHeaders {
  const none = { scheme: undefined, timeText: "", id: "", signatures: [], deliveryId: "" };
  const headers = headerMap(text);
  const id = headers.get("webhook-id") ?? "";
  const deliveryId = headers.get("x-service-delivery") ?? id;
  const service = headers.get("x-service-signature") ?? bareValue(text);
  if (service !== undefined) return { ...readService(service), deliveryId };
  const timeText = headers.get("webhook-timestamp");
  const signature = headers.get("webhook-signature");
  if (headers.has("webhook-id") || timeText !== undefined || signature !== undefined) {
    return { ...readStandard(id, timeText ?? "", signature ?? ""), deliveryId };
  }
  return { ...none, deliveryId, fault: "neither X-Service-Signature nor the headers of Standard Webhooks are there" };
}

function headerMap(text: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, name, value] = HEADER_LINE.exec(line) ?? [];
    if (name !== undefined && value !== undefined) headers.set(name.toLowerCase(), value.trim());
  }
  return headers;
}

function bareValue(text: string): string | undefined {
  const value = text.trim();
  return /^(t|v1)=/.test(value) && !value.includes("\n") ? value : undefined;
}

function readService(value: string): Omit<SignatureHeaders, "deliveryId"> {
  const parsed = parseSignatureHeader(value);
  if (!parsed) return { scheme: "service", id: "", timeText: "", signatures: [], fault: faultOfService(value) };
  const signatures = parsed.v1.slice(0, MAX_SIGNATURES);
  const fault = signatures.some(isSignature) ? "" : "v1 is not 64 hexadecimal digits";
  return { scheme: "service", id: "", timeText: parsed.timeText, signatures, fault };
}

function faultOfService(value: string): string {
  if (value.length > MAX_SIGNATURE_HEADER_CHARS) return `over ${MAX_SIGNATURE_HEADER_CHARS} characters`;
  const parts = value.split(",").map((part) => part.trim());
  const times = parts.filter((part) => part.startsWith("t="));
  if (times.length === 0) return "t is missing";
  if (times.length > 1) return "t occurs more than once";
  if (!parts.some((part) => part.startsWith("v1="))) return "v1 is missing";
  return "t is not a Unix time in seconds, of at most 15 digits";
}

function readStandard(id: string, timeText: string, signature: string): Omit<SignatureHeaders, "deliveryId"> {
  const signatures = signature
    .split(" ")
    .filter((part) => part.startsWith("v1,"))
    .map((part) => part.slice("v1,".length))
    .slice(0, MAX_SIGNATURES);
  return { scheme: "standard", id, timeText, signatures, fault: faultOfStandard(id, timeText, signatures) };
}

function faultOfStandard(id: string, timeText: string, signatures: readonly string[]): string {
  if (id === "") return "webhook-id is missing";
  if (timeText === "") return "webhook-timestamp is missing";
  if (parseUnixTime(timeText) === undefined) return "webhook-timestamp is not a Unix time in seconds";
  if (signatures.length === 0) return "webhook-signature has no v1,…";
  return signatures.some(isSignature) ? "" : "v1 is not the base64 of 32 bytes";
}

/** Whether it has the form of either scheme, because the digest may have been written in the wrong one. */
function isSignature(text: string): boolean {
  return HEX.test(text) || BASE64.test(text);
}
