import { setTimeout as sleep } from "node:timers/promises";
import { sign } from "@toolgate/webhook-signing/sign";
import type { TestHook } from "../../hooks/hooks.ts";
import type { RunningToolgate } from "../../running-toolgate.ts";

/** One call of a hook, repeated under the same id until it got a 200 or a 202, as a sender should. */
export interface SentCall {
  n: number;
  /** The victim that was killed last when it was begun. */
  phase: number;
  sentAtMs: number;
  /** 0 while no request got a 200 or a 202. */
  acceptedAtMs: number;
  /** The status of each response; 0: the connection broke or there was no response in time. */
  statuses: number[];
  /** Delivery ids in the responses, without repeats. */
  deliveryIds: string[];
}

export interface Senders {
  /** In the order in which they were begun. */
  readonly calls: readonly SentCall[];
  phase: number;
  /** Resolves when every call has been accepted. */
  stop(): Promise<void>;
}

const SENDERS = 3;
/** Pause of a sender between two calls. */
const REST_MS = 120;
const BEFORE_REPEAT_MS = 150;
/** As the guide for senders says. */
const RESPONSE_DEADLINE_MS = 10_000;

/** Senders in a closed loop until they are stopped. */
export function startSenders({ request }: Pick<RunningToolgate, "request">, hooks: readonly TestHook[]): Senders {
  const calls: SentCall[] = [];
  const stopping = new AbortController();
  const senders: Senders = {
    calls,
    phase: 0,
    async stop() {
      stopping.abort();
      await running;
    },
  };
  async function sender(): Promise<void> {
    while (!stopping.signal.aborted) {
      const n = calls.length + 1;
      const call: SentCall = {
        n,
        phase: senders.phase,
        sentAtMs: Date.now(),
        acceptedAtMs: 0,
        statuses: [],
        deliveryIds: [],
      };
      calls.push(call);
      await untilAccepted(request, hooks[n % hooks.length] as TestHook, call);
      await sleep(REST_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }
  const running = Promise.all(Array.from({ length: SENDERS }, sender));
  return senders;
}

async function untilAccepted(
  request: RunningToolgate["request"],
  { path, secret }: TestHook,
  call: SentCall,
): Promise<void> {
  const body = JSON.stringify({ n: call.n });
  for (;;) {
    const signature = sign(secret, Math.floor(Date.now() / 1000), body);
    const headers = { "x-service-delivery": `call-${call.n}`, "x-service-signature": signature };
    const signal = AbortSignal.timeout(RESPONSE_DEADLINE_MS);
    const response = await request(path, { method: "POST", headers, body, signal }).catch(() => undefined);
    call.statuses.push(response?.status ?? 0);
    if (response?.status === 200 || response?.status === 202) {
      const id = String(response.body.delivery_id);
      if (!call.deliveryIds.includes(id)) call.deliveryIds.push(id);
      call.acceptedAtMs = Date.now();
      return;
    }
    await sleep(BEFORE_REPEAT_MS);
  }
}
