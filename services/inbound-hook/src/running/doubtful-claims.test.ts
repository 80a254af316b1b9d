import { expect, test } from "vitest";
import { createDoubtfulClaims } from "./doubtful-claims.ts";

const claim = { claimId: "c", leaseUntil: new Date(30_000) };

function doubtful(undone: { found: number; returned: number }[]) {
  const asked: string[] = [];
  let nowMs = 0;
  const claims = createDoubtfulClaims(
    async ({ claimId }) => {
      asked.push(claimId);
      return undone.shift() ?? { found: 0, returned: 0 };
    },
    () => new Date(nowMs),
  );
  claims.add(claim);
  return {
    asked,
    undo: () => claims.undo(),
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

test("[IN-33] a claim is looked for until all that it took is returned, also from a queue that was locked at first", async () => {
  const { asked, undo } = doubtful([
    { found: 0, returned: 0 },
    { found: 3, returned: 2 },
    { found: 1, returned: 1 },
  ]);
  expect([await undo(), await undo(), await undo(), await undo()]).toEqual([0, 2, 1, 0]);
  expect(asked).toHaveLength(3);
});

test("[IN-58] a claim is not looked for once its lease has expired", async () => {
  const { asked, undo, pass } = doubtful([]);
  await undo();
  pass(30_000);
  await undo();
  await undo();
  expect(asked).toHaveLength(2);
});
