import { TIMEOUT_S } from "@toolgate/api-examples/example-call";
import { LIMIT_HEADERS } from "@toolgate/api-examples/responses";

/** The response to a call that was tried. */
export interface TriedCall {
  status: number;
  durationMs: number;
  /** Those of the limit, and the code of an error. */
  headers: [name: string, value: string][];
  body: string;
  isCut: boolean;
}

const SHOWN_HEADERS = [...Object.keys(LIMIT_HEADERS), "Retry-After", "X-Error-Code"];
const MAX_SHOWN_CHARACTERS = 100_000;

interface Attempt {
  url: string;
  key: string;
  /** As typed: parsing could change its numbers. */
  argsJson: string;
  signal: AbortSignal;
}

/** [BLD-34] [BLD-36] A real call, without the session. The key is in this one request's header and nowhere else. */
export async function tryCall({ url, key, argsJson, signal }: Attempt): Promise<TriedCall> {
  const startedAt = performance.now();
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: `{"args":${argsJson}}`,
    credentials: "omit",
    cache: "no-store",
    referrerPolicy: "no-referrer",
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_S * 1000)]),
  });
  const text = await response.text();
  const durationMs = Math.round(performance.now() - startedAt);
  const headers = SHOWN_HEADERS.map((name): [string, string] => [name, response.headers.get(name) ?? ""]);
  return {
    status: response.status,
    durationMs,
    headers: headers.filter(([, value]) => value !== ""),
    body: text.slice(0, MAX_SHOWN_CHARACTERS),
    isCut: text.length > MAX_SHOWN_CHARACTERS,
  };
}

/** Whether a text is a JSON object, as the arguments of a call must be. */
export function isJsonObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
