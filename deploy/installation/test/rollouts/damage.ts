import { connectBus } from "@toolgate/event-bus/connect";
import { answersWithGaps, differentAnswers, unfinishedAnswers, wrongToolCalls } from "../load/answer-tally.ts";
import { readArrivals, readLogs } from "../load/evidence.ts";
import {
  brokenHookCalls,
  failedCalls,
  missingEvents,
  missingFromLogs,
  repeatedEvents,
  surplusInLogs,
} from "../load/tally.ts";
import { SETTLED, settle } from "../load/unsettled.ts";
import type { Rig } from "./rig.ts";
import type { Work } from "./work.ts";

/** What a rollout must not cause. */
export const NO_DAMAGE = {
  failed: [] as unknown[],
  unsettled: SETTLED,
  /** Events of successful calls that never arrived. */
  lost: [] as string[],
  /** Events that arrived twice, under one delivery or under two. */
  repeated: [] as string[],
  brokenHookCalls: [] as unknown[],
  wrongInLogs: [] as string[],
  brokenAnswers: [] as unknown[],
  /** Deliveries that were not delivered, or not at the first attempt. */
  troubledDeliveries: [] as unknown[],
  badEnds: [] as readonly string[],
};

/** Ends the load, waits until everything that it caused has arrived, longer than a lease if need be, and compares. */
export async function countDamage({ cluster, toolgate, workspace, door }: Rig, work: Work): Promise<typeof NO_DAMAGE> {
  const { load, calls, hookCalls, answers } = work;
  const { pool, receiver } = toolgate;
  await load.stop();
  await using bus = await connectBus({ servers: toolgate.nats.url, name: "test" });
  const unsettled = await settle({ pool, bus }, work);
  const logs = await readLogs(pool);
  const arrivals = readArrivals(receiver.requests, workspace);
  const { rows: troubledDeliveries } = await pool.query(
    `select d.id, d.status, count(*)::int as attempts
       from outbound_webhook.delivery d left join outbound_webhook.attempt a on a.delivery_id = d.id
      group by 1, 2 having d.status <> 'delivered' or count(*) <> 1 limit 20`,
  );
  const connections = answers.reduce((sum, answer) => sum + answer.connections, 0);
  console.log(`${JSON.stringify(load.done)}; ${connections} connections; ${receiver.requests.length} requests arrived`);
  return {
    failed: [
      ...load.failures,
      ...failedCalls(calls),
      ...hookCalls.filter(({ statuses }) => statuses.join() !== "202"),
      ...answers.flatMap(({ refusals }) => refusals),
    ],
    unsettled,
    lost: missingEvents(calls, hookCalls, logs, arrivals),
    repeated: repeatedEvents(arrivals),
    brokenHookCalls: [
      ...brokenHookCalls(hookCalls, logs, arrivals),
      ...hookCalls.filter(({ n }) => logs.hooks.get(n)?.[0]?.status !== "succeeded"),
    ],
    wrongInLogs: [...missingFromLogs(calls, logs), ...surplusInLogs(calls, hookCalls, logs)],
    brokenAnswers: [
      ...unfinishedAnswers(answers),
      ...answersWithGaps(answers),
      ...(await differentAnswers(door, answers)),
      ...(await wrongToolCalls(toolgate, answers)),
    ],
    troubledDeliveries,
    badEnds: cluster.badEnds,
  };
}
