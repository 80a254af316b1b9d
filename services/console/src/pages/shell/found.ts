import type { KINDS } from "../../text/en/shell.ts";

/** Something that the palette offers: a page, an object, or the log entries of a request. */
export interface Found {
  kind: keyof typeof KINDS;
  id: string;
  label: string;
  detail?: string;
  to: string;
  params?: Record<string, string>;
  search?: Record<string, string>;
}

export const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** An id that the gateway or a proxy in front of it may have given to a request. */
export function mayBeRequestId(text: string): boolean {
  return /^[A-Za-z0-9._-]{16,128}$/.test(text) && /[0-9]/.test(text);
}

export function containing(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}
