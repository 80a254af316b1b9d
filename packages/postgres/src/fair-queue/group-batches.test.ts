import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createGroupBatches, type GroupBatches, type GroupBatchesOptions } from "./group-batches.ts";

interface Item {
  groupId: string;
  bytes: number;
}

/** Commits wait until `next` lets them go. */
function startBatches(limits: Partial<GroupBatchesOptions<Item>> = {}) {
  const commits: { groups: string; end: PromiseWithResolvers<void> }[] = [];
  const batches = createGroupBatches<Item>({
    groupOf: ({ groupId }) => groupId,
    sizeOf: ({ bytes }) => bytes,
    async commit(items) {
      const end = Promise.withResolvers<void>();
      commits.push({ groups: items.map(({ groupId }) => groupId).join(" "), end });
      await end.promise;
    },
    unlockedOf: async (ids) => new Set(ids),
    maxItems: 4,
    maxBytes: 1_000,
    maxInFlight: 1,
    maxWaitingItems: 40,
    maxWaitingBytes: 10_000,
    groupShare: 1 / 4,
    ...limits,
  });
  return { batches, commits };
}

function addAll(batches: GroupBatches<Item>, groupIds: string, bytes = 1): Promise<string>[] {
  return groupIds.split(" ").map((groupId) => batches.add({ groupId, bytes }).then(() => "committed", String));
}

async function commitsOf(run: ReturnType<typeof startBatches>, ended: Promise<unknown>): Promise<string[]> {
  let isEnded = false;
  void ended.then(() => {
    isEnded = true;
  });
  for (let at = 0; !isEnded; ) {
    await turn();
    run.commits[at]?.end.resolve();
    if (run.commits[at]) at += 1;
  }
  return run.commits.map(({ groups }) => groups);
}

test("[FAIR] groups take turns in a batch, so that a group with many items delays no other", async () => {
  const run = startBatches();
  const first = addAll(run.batches, "a a a a a a a a a a");
  await turn();
  const all = [...first, ...addAll(run.batches, "b c b")];
  expect(await commitsOf(run, Promise.all(all))).toEqual(["a a a a", "a b c a", "b a a a", "a"]);
});

test("[FAIR] a group that uses its share is refused more, and others are not", async () => {
  const run = startBatches();
  const inFlight = addAll(run.batches, "a");
  await turn();
  const full = addAll(run.batches, Array(11).fill("a").join(" "));
  const others = addAll(run.batches, Array(30).fill("b").join(" "));
  expect(await full[10]).toContain("overloaded");
  expect(await others[10]).toContain("overloaded");
  const more = addAll(run.batches, "c d");
  await commitsOf(run, Promise.all([...inFlight, ...full, ...others, ...more]));
  expect(new Set(await Promise.all([...full.slice(0, 10), ...others.slice(0, 10), ...more]))).toEqual(
    new Set(["committed"]),
  );
});

test("[FAIR] large items count by their bytes, and one that is larger than a batch goes alone", async () => {
  const run = startBatches();
  const inFlight = addAll(run.batches, "x");
  await turn();
  const large = addAll(run.batches, "a a a", 1_200);
  const small = addAll(run.batches, "b");
  expect(await large[2]).toContain("overloaded");
  expect(await commitsOf(run, Promise.all([...inFlight, ...large, ...small]))).toEqual(["x", "a", "b", "a"]);
});

test("[FAIR] a group that stays locked is committed apart, and goes back to the others once it was free", async () => {
  const locked = new Set(["a", "b"]);
  const tries: string[] = [];
  const batches = createGroupBatches<Item>({
    groupOf: ({ groupId }) => groupId,
    sizeOf: () => 1,
    async commit(items, lockTimeoutMs) {
      const groups = items.map(({ groupId }) => groupId);
      tries.push(`${groups.join(" ")} ${lockTimeoutMs}`);
      if (groups.some((group) => locked.has(group))) throw Object.assign(new Error("locked"), { code: "55P03" });
    },
    unlockedOf: async (ids) => new Set(ids.filter((id) => !locked.has(id))),
    maxItems: 10,
    maxBytes: 100,
    maxInFlight: 2,
    maxWaitingItems: 100,
    maxWaitingBytes: 100,
    groupShare: 1,
  });
  const ends = await Promise.all(addAll(batches, "a b c a"));
  expect(ends).toEqual(["Error: locked", "Error: locked", "committed", "Error: locked"]);
  expect(tries).toEqual(["a b c a 500", "c 500", "a a 1500", "b 1500"]);
  locked.delete("b");
  // Of two held groups, the free one comes first.
  expect(await Promise.all(addAll(batches, "a b"))).toEqual(["Error: locked", "committed"]);
  expect(await Promise.all(addAll(batches, "a b"))).toEqual(["Error: locked", "committed"]);
  expect(tries.slice(4)).toEqual(["b 1500", "a 1500", "b 500", "a 1500"]);
  locked.clear();
  await Promise.all(addAll(batches, "a"));
  await Promise.all(addAll(batches, "a b"));
  expect(tries.slice(8)).toEqual(["a 1500", "a b 500"]);
});

test("[FAIR] when every lock is free again by the time it is looked for, each group is committed alone", async () => {
  let fails = 1;
  const tries: string[] = [];
  const run = startBatches({
    async commit(items) {
      tries.push(items.map(({ groupId }) => groupId).join(" "));
      fails -= 1;
      if (fails >= 0) throw Object.assign(new Error("locked"), { code: "55P03" });
    },
  });
  expect(await Promise.all(addAll(run.batches, "a b a"))).toEqual(["committed", "committed", "committed"]);
  expect(tries).toEqual(["a b a", "a a", "b"]);
});
