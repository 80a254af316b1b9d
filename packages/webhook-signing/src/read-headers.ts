import { MAX_SIGNATURE_HEADER_CHARS, MAX_TIME_DIGITS, parseSignatureHeader } from "./parse-header.ts";

/** Longest text of headers that is read, in UTF-16 units. */
export const MAX_HEADER_TEXT_CHARS = 16_384;

/** Signatures of one request that are looked at. */
export const MAX_SIGNATURES = 8;

/** Which headers carry the signature: `X-Service-Signature`, or the three of Standard Webhooks. */
export type SignatureScheme = "service" | "standard";

/** What a request's headers say about its signature, as sent: `fault` tells which part is not well-formed. */
export type SignatureHeaders = {
  scheme: SignatureScheme | undefined;
  fault: string;
  /** As it stands in the signed text; empty when there is none. */
  timeText: string;
  /** `webhook-id`; empty in the other scheme. */
  id: string;
  /** The values of `v1`: hexadecimal in the one scheme, base64 in the other. */
  signatures: readonly string[];
  /** The delivery that the headers name, or empty. */
  deliveryId: string;
};

const HEX = /^[0-9a-fA-F]{64}$/;
const BASE64 = /^[A-Za-z0-9+/]{43}=$/;
const DIGITS = /^[0-9]+$/;
const HEADER_LINE = /^[ \t]*([A-Za-z0-9-]+)[ \t]*:(.*)$/;

/**
 * Reads pasted header lines of either scheme, names in any case, other headers among them; or the mere value of
 * `X-Service-Signature`. When headers of both are there, `X-Service-Signature` counts. Never throws.
 */
export function readSignatureHeaders(text: string): SignatureHeaders {
  const none = { scheme: undefined, timeText: "", id: "", signatures: [], deliveryId: "" };
  if (text.length > MAX_HEADER_TEXT_CHARS) return { ...none, fault: `over ${MAX_HEADER_TEXT_CHARS} characters` };
  const headers = headerMap(text);
  const id = headers.get("webhook-id") ?? "";
  const deliveryId = headers.get("x-service-delivery") ?? id;
  const service = headers.get("x-service-signature") ?? bareValue(text);
  if (service !== undefined) return { ...readService(service), deliveryId };
  if (["webhook-id", "webhook-timestamp", "webhook-signature"].some((name) => headers.has(name))) {
    return { ...readStandard(headers), deliveryId };
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
  const read = { scheme: "service" as const, id: "", timeText: "", signatures: [] as string[] };
  if (!parsed.ok) return { ...read, fault: faultOfService(value) };
  const signatures = parsed.v1.slice(0, MAX_SIGNATURES);
  const fault = signatures.some((v1) => HEX.test(v1) || BASE64.test(v1)) ? "" : "v1 is not 64 hexadecimal digits";
  return { ...read, fault, timeText: parsed.timeText, signatures };
}

function faultOfService(value: string): string {
  if (value.length > MAX_SIGNATURE_HEADER_CHARS) return `over ${MAX_SIGNATURE_HEADER_CHARS} characters`;
  const parts = value.split(",").map((part) => part.trim());
  const times = parts.filter((part) => part.startsWith("t="));
  if (times.length === 0) return "t is missing";
  if (times.length > 1) return "t occurs more than once";
  if (!parts.some((part) => part.startsWith("v1="))) return "v1 is missing";
  return `t is not a Unix time in seconds, of at most ${MAX_TIME_DIGITS} digits`;
}

function readStandard(headers: Map<string, string>): Omit<SignatureHeaders, "deliveryId"> {
  const [id = "", timeText = "", signature = ""] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(
    (name) => headers.get(name),
  );
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
  if (timeText.length > MAX_TIME_DIGITS || !DIGITS.test(timeText))
    return "webhook-timestamp is not a Unix time in seconds";
  if (signatures.length === 0) return "webhook-signature has no v1,…";
  if (!signatures.some((v1) => BASE64.test(v1) || HEX.test(v1))) return "v1 is not the base64 of 32 bytes";
  return "";
}
