import { createCallCounter } from "@toolgate/epoch/call-counter";
import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import type { Redis } from "ioredis";
import type { IsWorkspaceLocked } from "../clients/workspace-lock.ts";
import { sealingContext } from "../domain/hook.ts";
import { createAcceptStore } from "../store/accept.ts";
import { addActivity } from "../store/hook-activity.ts";
import type { Lane } from "../store/queue.ts";
import { loadReceivable } from "../store/receivable-hook.ts";
import { addRefusedCalls } from "../store/refused-calls.ts";
import { createAcceptor } from "./acceptor.ts";
import { type ActivityLog, createActivityLog } from "./activity-log.ts";
import { createCurrentHooks } from "./current-hooks.ts";
import { createFailureThrottle } from "./failure-throttle.ts";
import { createReceiver, type Receiver } from "./receiver.ts";

interface ReceiverParts {
  pool: Pool;
  queuePool: Pool;
  queues: Readonly<Record<Lane, FairQueue>>;
  announceWork: (lane: Lane) => void;
  now: () => Date;
  redis: Redis;
  secretBox: SecretBox;
  isWorkspaceLocked: IsWorkspaceLocked;
  onError: (what: string) => (error: unknown) => void;
}

/** What receives hook calls. When `resources` is disposed, the waiting calls are stored first. */
export function openReceiver(
  { pool, queuePool, queues, announceWork, now, redis, secretBox, isWorkspaceLocked, onError }: ReceiverParts,
  resources: AsyncDisposableStack,
): { receiver: Receiver; activity: ActivityLog } {
  const nowMs = () => now().getTime();
  const currentHooks = createCurrentHooks({
    redis,
    counter: createCallCounter(redis, { kind: "hook", counters: "toolgate:hook-calls" }),
    query: (hashes) => loadReceivable(pool, hashes),
    openSecret: ({ id, secret }) => secretBox.open(secret, sealingContext(id)),
    isWorkspaceLocked,
    now: nowMs,
    onRedisError: onError("redis cannot decide about hook calls; deciding from postgres"),
  });
  const activity = createActivityLog(
    (activities) => addActivity(pool, activities),
    (calls) => addRefusedCalls(pool, calls),
  );
  resources.defer(() => activity.flush().catch(onError("hook activity")));
  const acceptorOf = (lane: Lane) => resources.use(createAcceptor(createAcceptStore(queuePool, lane, queues[lane])));
  const acceptors = { tool: acceptorOf("tool"), assistant: acceptorOf("assistant") };
  const throttle = createFailureThrottle(nowMs);
  return { receiver: createReceiver({ currentHooks, acceptors, throttle, activity, announceWork, now }), activity };
}
