import { expect, test } from "vitest";
import { createHostCallTurns } from "./turns.ts";

const never = () => new AbortController().signal;

test.each([
  ["database", 2, 1_000],
  ["lookup", 2, 1_000],
  ["fetch", 32, 1_000],
  ["mail", 2, 200],
] as const)(
  "a workspace has so many calls of kind %s under way and waiting, and further ones are refused",
  async (occupied, running, waiting) => {
    const turns = createHostCallTurns();
    const begun: Disposable[] = [];
    const begin = async () => void begun.push(await turns.begin(occupied, "noisy", never));
    const all = Array.from({ length: running + waiting }, begin);
    await expect(turns.begin(occupied, "noisy", never)).rejects.toMatchObject({ code: "TOO_MANY_WAITING" });
    using _other = await turns.begin(occupied, "quiet", never);
    expect(begun.length).toBe(running);
    for (let ended = 0; ended < running + waiting; ended += 1) {
      begun[ended]?.[Symbol.dispose]();
      await all[ended + running];
    }
    expect(begun.length).toBe(running + waiting);
  },
);

test("a call whose run has ended, or whose time is up, leaves the queue", async () => {
  const turns = createHostCallTurns();
  const begun = [await turns.begin("mail", "a", never), await turns.begin("mail", "a", never)];
  const run = new AbortController();
  const cancelled = turns.begin("mail", "a", () => run.signal);
  const late = turns.begin("mail", "a", () => AbortSignal.timeout(1));
  const next = turns.begin("mail", "a", never);
  run.abort();
  await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
  await expect(late).rejects.toMatchObject({ code: "TIMEOUT" });
  begun[0]?.[Symbol.dispose]();
  await next;
});
