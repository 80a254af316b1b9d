import { eventually } from "@toolgate/testbed/eventually";
import { readEvent } from "../faults/evidence.ts";
import { storedAnswer } from "./answers.ts";
import type { WorkLoad } from "./load.ts";
import type { Rig } from "./rig.ts";

/** What a rollout must not cause. All lists are empty, or something went wrong. */
export interface Damage {
  failed: readonly string[];
  /** Events of successful calls that never arrived, by type and number of the call. */
  lost: string[];
  /** Events that arrived twice, under one delivery or under two. */
  repeated: string[];
  /** Answers that differ from the history. */
  brokenAnswers: string[];
  /** Deliveries that were not delivered, or not at the first attempt. */
  troubledDeliveries: unknown[];
  badEnds: readonly string[];
}

export const NO_DAMAGE: Damage = {
  failed: [],
  lost: [],
  repeated: [],
  brokenAnswers: [],
  troubledDeliveries: [],
  badEnds: [],
};

/** Ends the load, waits until everything that it caused has arrived, longer than a lease if need be, and compares. */
export async function countDamage(
  { cluster, pool, receiver, work }: Rig,
  { load, expected, answers }: WorkLoad,
): Promise<Damage> {
  await load.stop();
  const arrived = () =>
    Map.groupBy(
      receiver.requests.map(({ body }) => readEvent(body)),
      ({ type, n }) => `${type} ${n}`,
    );
  const missing = () => [...expected.difference(new Set(arrived().keys()))];
  const queued = async () => (await pool.query("select from outbound_webhook.queue_item")).rowCount;
  await eventually(async () => missing().length === 0 && (await queued()) === 0, { everyMs: 250 }).catch(() => {});
  const brokenAnswers: string[] = [];
  for (const { chatId, text } of answers) {
    const stored = await storedAnswer(work, chatId).catch(String);
    if (stored !== text || text === "") brokenAnswers.push(`${chatId}: ${text} / ${stored}`);
  }
  const { rows: troubledDeliveries } = await pool.query(
    `select d.id, d.status, count(*)::int as attempts
       from outbound_webhook.delivery d left join outbound_webhook.attempt a on a.delivery_id = d.id
      group by 1, 2 having d.status <> 'delivered' or count(*) <> 1 limit 20`,
  );
  const reconnects = answers.reduce((sum, answer) => sum + answer.reconnects, 0);
  console.log(`${JSON.stringify(load.done)}; ${reconnects} reconnects; ${receiver.requests.length} deliveries arrived`);
  return {
    failed: load.failures,
    lost: missing(),
    repeated: [...arrived()].filter(([, all]) => all.length > 1).map(([event, all]) => `${event}: ${all.length} times`),
    brokenAnswers,
    troubledDeliveries,
    badEnds: cluster.badEnds,
  };
}
