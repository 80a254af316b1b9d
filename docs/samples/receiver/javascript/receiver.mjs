// Receives Toolgate's webhooks. Node.js 20 or newer, no packages:
//
//   WEBHOOK_SECRET=whsec_… PORT=3000 node receiver.mjs
//
// Run it behind a proxy that terminates TLS. During a secret rotation, give both secrets, separated by a comma.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { argv, env } from "node:process";
import { pathToFileURL } from "node:url";

const TOLERANCE_SECONDS = 300;
const MAX_BODY_BYTES = 262_144;
const MAX_REMEMBERED = 100_000;
const MAX_WAITING = 10_000;
const WORK_EVERY_MS = 200;
const REQUEST_TIMEOUT_MS = 10_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * True when one of the secrets signed `rawBody` (a Buffer of the exact bytes received) within five minutes of now.
 * The key is the whole secret, including `whsec_`. If you use a Standard Webhooks library, verify the headers
 * `webhook-id`, `webhook-timestamp` and `webhook-signature` instead of this one.
 */
export function verify(secrets, header, rawBody, nowSeconds = Math.floor(Date.now() / 1000)) {
  const parts = (header ?? "").split(",").map((part) => part.trim());
  const times = parts.filter((part) => part.startsWith("t=")).map((part) => part.slice(2));
  if (times.length !== 1 || !/^[0-9]{1,15}$/.test(times[0])) return false;
  if (Math.abs(nowSeconds - Number(times[0])) > TOLERANCE_SECONDS) return false;
  const given = parts
    .filter((part) => /^v1=[0-9a-f]{64}$/i.test(part))
    .map((part) => Buffer.from(part.slice(3), "hex"));
  return secrets.some((secret) => {
    const expected = createHmac("sha256", secret).update(`${times[0]}.`).update(rawBody).digest();
    return given.some((signature) => timingSafeEqual(signature, expected));
  });
}

/** Deliveries arrive in any order. If order matters, sort by the time of the event. */
export function inOrder(events) {
  return [...events].sort((a, b) => Date.parse(a.created) - Date.parse(b.created));
}

/** The event in a verified body; undefined if it is not one. Unknown fields are ignored. */
function parseEvent(rawBody) {
  try {
    const event = JSON.parse(rawBody.toString("utf8"));
    const wellFormed = [event.id, event.type, event.created].every((field) => typeof field === "string");
    return wellFormed && !Number.isNaN(Date.parse(event.created)) ? event : undefined;
  } catch {
    return undefined;
  }
}

async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Accepted events that wait to be processed, and the ids of earlier ones. Both are lost when the process stops: if no
 * event may be lost or processed twice, store its id and the event in one database transaction before you respond.
 */
export class Inbox {
  #known = new Set();
  #waiting = [];
  #settings;

  constructor(settings = {}) {
    const { onceByEvent = false, maxRemembered = MAX_REMEMBERED, maxWaiting = MAX_WAITING } = settings;
    this.#settings = { onceByEvent, maxRemembered, maxWaiting };
  }

  /** Accepts a verified event and returns the HTTP status. */
  accept(delivery, event) {
    const { onceByEvent, maxRemembered, maxWaiting } = this.#settings;
    // A delivery keeps its id on every retry; a resend by hand has a new one and keeps the id of the event.
    const key = onceByEvent ? event.id : delivery;
    if (this.#known.has(key)) {
      console.log(`duplicate ${delivery}`);
      return 204;
    }
    if (this.#waiting.length >= maxWaiting) return 503; // Toolgate retries later
    this.#waiting.push(event);
    this.#known.add(key);
    if (this.#known.size > maxRemembered) this.#known.delete(this.#known.values().next().value);
    console.log(`received ${delivery} ${event.id} ${event.type}`);
    return 204;
  }

  /** Removes and returns the waiting events, oldest first. */
  take() {
    return inOrder(this.#waiting.splice(0));
  }
}

async function statusFor(request, secrets, inbox) {
  if (request.method !== "POST") return 405;
  const rawBody = await readBody(request);
  if (rawBody === undefined) return 413;
  if (!verify(secrets, request.headers["x-service-signature"], rawBody)) return 401;
  const delivery = request.headers["x-service-delivery"] ?? "";
  const event = parseEvent(rawBody);
  return event === undefined || !UUID.test(delivery) ? 400 : inbox.accept(delivery, event);
}

function main() {
  const given = (env.WEBHOOK_SECRET ?? "").split(",").map((secret) => secret.trim());
  const secrets = given.filter((secret) => secret !== "");
  if (secrets.length === 0) throw new Error("WEBHOOK_SECRET is missing");
  const inbox = new Inbox({ onceByEvent: env.ONCE_BY_EVENT === "1" });
  setInterval(() => {
    for (const event of inbox.take()) console.log(`worked ${event.id}`); // your own processing, after the response
  }, WORK_EVERY_MS);
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    statusFor(request, secrets, inbox).then(
      (status) => response.writeHead(status, status === 413 ? { connection: "close" } : {}).end(),
      () => response.destroy(),
    );
  });
  server.listen(Number(env.PORT ?? 3000), env.HOST ?? "127.0.0.1", () => console.log("listening"));
}

if (import.meta.url === pathToFileURL(argv[1] ?? "").href) main();
