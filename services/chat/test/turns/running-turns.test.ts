import { expect, test } from "vitest";
import type { ClaimedTurn } from "../../src/store/turns/claim.ts";
import { createRunningTurns } from "../../src/turns/worker/running-turns.ts";

test("a lease is renewed, and a turn handed over, only once its claim is stored", async () => {
  const handedOver: string[] = [];
  using running = createRunningTurns({
    run: async (_turn, control) => control.handOver(),
    onEnd: async ({ id }, handOver) => void (handOver && handedOver.push(id)),
    onError: () => {},
  });
  const stored = Promise.withResolvers<void>();
  const turn = { id: "t", lane: "chat", requestId: "", traceparent: "", takenOver: false } as ClaimedTurn;
  let done = false;
  running.start(turn, stored.promise);
  const idle = running.untilIdle("chat").then(() => {
    done = true;
  });
  expect([running.count("chat"), running.stored(), done, handedOver]).toEqual([1, [], false, []]);
  running.start({ ...turn, id: "other" });
  expect(running.stored().map(({ id }) => id)).toEqual(["other"]);
  stored.resolve();
  await idle;
  expect(handedOver.toSorted()).toEqual(["other", "t"]);
});
