// The noisy workspace: some lanes, each of which makes its next request when it has its response.
import { randomUUID } from "node:crypto";
import { Agent, request as httpRequest } from "node:http";
import { setPriority } from "node:os";
import { monotonicMs, replyToParent } from "../machine/child-process.ts";
import type { NoisyAnswer, NoisyOrder, NoisyRequest } from "./orders.ts";

/** So that the processors' time that this program needs is not counted as that of the installation. */
const LOWEST_PRIORITY = 19;
/** A refusal comes quickly; a caller that repeats it in an endless loop would measure something else. */
const PAUSE_AFTER_REFUSAL_MS = 20;
const REFUSALS_FROM = 429;
/** A run goes on when its caller leaves, and would disturb the next window. */
const LAST_RESPONSES_MS = 30_000;

setPriority(LOWEST_PRIORITY);
const agent = new Agent({ keepAlive: true, maxSockets: 512 });

function send(port: number, { method, path, headers, body, once }: NoisyRequest, signal: AbortSignal): Promise<number> {
  const all = {
    ...headers,
    ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
    ...(once && { "idempotency-key": randomUUID() }),
  };
  return new Promise((resolve) => {
    const sent = httpRequest({ port, host: "127.0.0.1", method, path, headers: all, agent, signal });
    sent.on("response", (response) => {
      response.resume();
      response.on("error", () => {});
      response.on("close", () => resolve(response.complete ? (response.statusCode ?? 0) : 0));
    });
    sent.on("error", () => resolve(0));
    sent.end(body);
  });
}

async function attack({ port, requests, lanes, forMs }: NoisyOrder): Promise<NoisyAnswer> {
  const statuses: Record<string, number> = {};
  const untilMs = monotonicMs() + forMs;
  const signal = AbortSignal.timeout(forMs + LAST_RESPONSES_MS);
  const lane = async (first: number) => {
    for (let turn = first; monotonicMs() < untilMs; turn += 1) {
      const request = requests[turn % requests.length] as NoisyRequest;
      const status = await send(port, request, signal);
      if (signal.aborted) return;
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 0 || (status >= REFUSALS_FROM && !request.eager))
        await new Promise((resolve) => setTimeout(resolve, PAUSE_AFTER_REFUSAL_MS));
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)));
  return { statuses };
}

replyToParent<NoisyOrder, NoisyAnswer>({}, attack);
