import { createHash } from "node:crypto";
import type { JsonObject } from "@toolgate/rules/json-object";
import type { Format } from "../hook.ts";
import { joinedValueOf, type WithHeaders } from "./received-call.ts";

/** What identifies a hook call among all calls of its hook. */
interface Identity {
  /** [AUTH-4] Replay keys: a call is a repeat if its hook has accepted any of them before. Without keys, every call is new. */
  keys: Buffer[];
  /** [IN-11] The sender's own id of the call; null when it sent none. */
  externalId: string | null;
}

interface AcceptableCall extends WithHeaders {
  body: Uint8Array;
  format: Format;
  signedAt: number | undefined;
  /** The parsed body. */
  value: JsonObject;
}

const MAX_ID_CHARACTERS = 255;
const BEARER_ID_HEADERS = ["idempotency-key", "x-delivery-id", "x-request-id"] as const;

/** The text that is hashed begins with the kind of the key, so that the key of an id never equals that of a body. */
export function identify(call: AcceptableCall): Identity {
  switch (call.format) {
    case "native": {
      // [AUTH-5]
      const id = joinedValueOf(call, "x-service-delivery");
      return identity([signatureKey(call)], id);
    }
    case "processor": {
      // [AUTH-10] A field that a form repeats is a list.
      const { id } = Object.hasOwn(call.value, "id") ? call.value : {};
      return identity([signatureKey(call)], typeof id === "string" ? id : "");
    }
    case "shop":
      return identity([bodyKey(call)], "");
    case "github": {
      const id = joinedValueOf(call, "x-github-delivery");
      return id === "" ? identity([bodyKey(call)], "") : identity([], id);
    }
    case "standard_webhooks": {
      const id = joinedValueOf(call, "webhook-id");
      return identity([signedTextKey(call, id)], id);
    }
    case "bearer":
      // [AUTH-15] [AUTH-16] [AUTH-17] Only the first one that was sent counts: proxies add X-Request-Id.
      return identity([], BEARER_ID_HEADERS.map((name) => joinedValueOf(call, name)).find((id) => id !== "") ?? "");
  }
}

/** The sender's id is one more key. */
function identity(keys: Buffer[], id: string): Identity {
  if (id === "") return { keys, externalId: null };
  return { keys: [...keys, hash("id", id)], externalId: storable(id) };
}

/** [AUTH-4] Covers the time and the body, because the header can be written differently and remain valid. */
function signatureKey({ signedAt, body }: AcceptableCall): Buffer {
  return hash(`signature ${signedAt}`, body);
}

/** Covers everything that Standard Webhooks signs. */
function signedTextKey(call: AcceptableCall, id: string): Buffer {
  const time = joinedValueOf(call, "webhook-timestamp");
  return hash("signed", Buffer.concat([Buffer.from(`${id}.${time}.`), call.body]));
}

/** [AUTH-13] */
function bodyKey({ body }: AcceptableCall): Buffer {
  return hash("body", body);
}

function hash(kind: string, content: string | Uint8Array): Buffer {
  return createHash("sha256").update(`${kind}\0`).update(content).digest();
}

/** [IN-11] At most 255 characters that PostgreSQL can store; a longer id is hashed, so that it stays unique. */
function storable(id: string): string {
  const text = id.replaceAll("\0", "\ufffd").toWellFormed();
  if ([...text].length <= MAX_ID_CHARACTERS) return text;
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}
