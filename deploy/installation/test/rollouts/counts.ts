import { eventually } from "@toolgate/testbed/eventually";
import { readEvent } from "../faults/evidence.ts";
import { storedAnswer } from "./answers.ts";
import type { Load } from "./load.ts";
import type { Rig } from "./rig.ts";

/** What a rollout must not cause. All lists are empty, or something went wrong. */
export interface Damage {
  failedCalls: readonly string[];
  /** Events of successful calls that never arrived, by type and number of the call. */
  lost: string[];
  /** Events that arrived twice, under one delivery or under two. */
  repeated: string[];
  /** Answers that differ from the history. */
  brokenAnswers: string[];
  /** Deliveries that were not delivered, or not at the first attempt. */
  troubledDeliveries: unknown[];
  badEnds: string[];
}

export const NO_DAMAGE: Damage = {
  failedCalls: [],
  lost: [],
  repeated: [],
  brokenAnswers: [],
  troubledDeliveries: [],
  badEnds: [],
};

/** Longer than a lease, after which an attempt is repeated. */
const SETTLE_DEADLINE_MS = 120_000;

/** Ends the load, waits until everything that it caused has arrived, and compares. */
export async function countDamage({ cluster, pool, receiver, work }: Rig, load: Load): Promise<Damage> {
  await load.stop();
  const arrived = () => {
    const times = new Map<string, number>();
    for (const { body } of receiver.requests) {
      const { type, n } = readEvent(body);
      times.set(`${type} ${n}`, (times.get(`${type} ${n}`) ?? 0) + 1);
    }
    return times;
  };
  const missing = () => {
    const times = arrived();
    return [...load.expected].filter((event) => !times.has(event));
  };
  const queued = async () => (await pool.query("select from outbound_webhook.queue_item")).rowCount;
  await eventually(async () => missing().length === 0 && (await queued()) === 0, {
    deadlineMs: SETTLE_DEADLINE_MS,
    everyMs: 250,
  }).catch(() => {});
  const brokenAnswers: string[] = [];
  for (const { chatId, text } of load.answers) {
    const stored = await storedAnswer(work, chatId).catch(String);
    if (stored !== text || text === "") brokenAnswers.push(`${chatId}: ${text} / ${stored}`);
  }
  const { rows: troubledDeliveries } = await pool.query(
    `select d.id, d.status, count(*)::int as attempts
       from outbound_webhook.delivery d left join outbound_webhook.attempt a on a.delivery_id = d.id
      group by 1, 2 having d.status <> 'delivered' or count(*) <> 1 limit 20`,
  );
  return {
    failedCalls: load.failures,
    lost: missing(),
    repeated: [...arrived()].filter(([, times]) => times > 1).map(([event, times]) => `${event}: ${times} times`),
    brokenAnswers,
    troubledDeliveries,
    badEnds: cluster.badEnds(),
  };
}

/** One line of what was counted. */
export function summary({ cluster, receiver }: Rig, load: Load): string {
  const work = Object.entries(load.done).map(([kind, count]) => `${count} × ${kind}`);
  const reconnects = load.answers.reduce((sum, answer) => sum + answer.reconnects, 0);
  const unready = cluster.endpoints.unready.length === 0 ? "" : `; unready: ${cluster.endpoints.unready.join(", ")}`;
  return `${work.join(", ")}; ${reconnects} reconnects; ${receiver.requests.length} deliveries arrived${unready}`;
}
