// The load generator, a process of its own: runs one order at a time.
import { monotonicMs, replyToParent } from "../machine/child-process.ts";
import { openConnection, requestsOf } from "./connection.ts";
import { runOpenLoop } from "./open-loop.ts";
import { createScore, type LoadOrder, type LoadResult } from "./score.ts";

replyToParent<LoadOrder, LoadResult>({}, (order) =>
  order.mode.kind === "closed"
    ? runClosedLoop(order, order.mode.concurrency)
    : runOpenLoop(order, order.mode.perSecond),
);

/** As many callers as `concurrency`, each with a connection of its own. Ends when all have their last response. */
async function runClosedLoop({ target, warmUpMs, measureMs }: LoadOrder, concurrency: number): Promise<LoadResult> {
  const nextRequest = requestsOf(target);
  const fromMs = monotonicMs() + warmUpMs;
  const untilMs = fromMs + measureMs;
  const score = createScore(fromMs, untilMs);
  const caller = async () => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    let sentMs = 0;
    const connection = await openConnection(target.port, {
      onAnswer(own, status) {
        const nowMs = monotonicMs();
        score.responded(status, sentMs, nowMs);
        if (nowMs >= untilMs) own.close();
        else send(nowMs);
      },
      onBroken() {
        if (monotonicMs() < untilMs) score.broken();
        resolve();
      },
    });
    const send = (nowMs: number) => {
      sentMs = nowMs;
      connection.send(nextRequest());
    };
    send(monotonicMs());
    await ended;
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  return score.result();
}
