import { randomUUID } from "node:crypto";

/** The header that carries a request's id, from proxies, to callers and between services. */
export const REQUEST_ID_HEADER = "x-request-id";

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const RANDOM_FROM = 24;

/** 1 to 128 letters, digits, dots, hyphens and underscores. */
export function isRequestId(text: string): boolean {
  return REQUEST_ID.test(text);
}

/** A new id: the time and 48 random bits. Ids of the same time are neighbours in an index. */
export function newRequestId(): string {
  return `${Date.now().toString(36)}-${randomUUID().slice(RANDOM_FROM)}`;
}
