import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { createQueueAccess, ENDS, REQUESTED } from "./queue-access.ts";

/** Begins transactions of a workspace, which end when `release` is called. */
function beginMany(inQueue: ReturnType<typeof createQueueAccess>, workspaceId: string, count: number) {
  const released = Promise.withResolvers<void>();
  const begun: number[] = [];
  const all = Array.from({ length: count }, (_, number) =>
    inQueue(workspaceId, async () => {
      begun.push(number);
      await released.promise;
    }),
  );
  return { begun, release: released.resolve, ended: Promise.allSettled(all) };
}

/** Until everything that can happen without waiting has happened. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("[NFR] two transactions of a workspace run at a time, in order of arrival, and others' do not wait", async () => {
  const inQueue = createQueueAccess(REQUESTED);
  const noisy = beginMany(inQueue, "noisy", 50);
  const quiet = beginMany(inQueue, "quiet", 1);
  await settle();
  expect([noisy.begun, quiet.begun]).toEqual([[0, 1], [0]]);
  noisy.release();
  quiet.release();
  await noisy.ended;
  expect(noisy.begun).toEqual(Array.from({ length: 50 }, (_, number) => number));
});

test("[NFR] what a request waits for is refused when too much of its workspace waits; an end of a turn never is", async () => {
  const count = REQUESTED.maxWaiting + 10;
  const requested = beginMany(createQueueAccess(REQUESTED), "noisy", count);
  const ends = beginMany(createQueueAccess(ENDS), "noisy", count);
  await settle();
  requested.release();
  ends.release();
  const refused = (await requested.ended).filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(count - REQUESTED.maxWaiting - 2);
  for (const result of refused) expect(result).toMatchObject({ reason: { code: Code.Unavailable } });
  expect((await ends.ended).filter(({ status }) => status === "rejected")).toEqual([]);
});

test("[NFR] a transaction that fails lets the next one begin", async () => {
  const inQueue = createQueueAccess(REQUESTED);
  const failing = Array.from({ length: 3 }, () => inQueue("noisy", () => Promise.reject(new Error("failed"))));
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
  expect(await inQueue("noisy", async () => "done")).toBe("done");
});
