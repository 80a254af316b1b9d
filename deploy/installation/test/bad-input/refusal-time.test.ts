import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

const ROUNDS = 300;
const WARM_UP_ROUNDS = 30;
/**
 * How far the chance that one cause gets its response faster than another may be from a half. For two causes that do
 * not differ, 300 times of each estimate it with a standard deviation of 0.0236; 0.15 is 6.3 of them. For the 15 pairs
 * of causes that is one false alarm in 300 million runs.
 */
const MAX_ADVANTAGE = 0.15;
const TOOL = { external_api: true, handler: "export default async () => ({ success: true });" };

/** Names of tools by the reason why a call of them is refused; a fresh name was never called before. */
const CAUSES: Record<string, (round: number) => string> = {
  "does not exist": () => "nowhere",
  "does not exist, called for the first time": () => `fresh-${randomUUID().slice(0, 8)}`,
  "exists, released, not in the key; first time": (round) => `unlisted-${round}`,
  "in the key, deleted": () => "deleted",
  "in the key, not released": () => "hidden",
  "in the key, async": () => "later",
};

let toolgate: RunningToolgate;
beforeAll(async () => {
  toolgate = await runToolgate("single");
  await toolgate.saveTool("released", TOOL);
  await toolgate.saveTool("hidden", { ...TOOL, external_api: false });
  await toolgate.saveTool("later", { ...TOOL, async: true });
  const names = Array.from({ length: ROUNDS + WARM_UP_ROUNDS }, (_, round) => `unlisted-${round}`);
  for (const name of names) await toolgate.saveTool(name, TOOL);
});
afterAll(() => toolgate[Symbol.asyncDispose]());

/**
 * The share of pairs in which the call with one cause took longer than that with the other: 0.5 when they do not
 * differ.
 */
function slowerShare(one: number[], other: number[]): number {
  const sorted = [...other].sort((a, b) => a - b);
  const below = (value: number) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return one.reduce((sum, value) => sum + below(value), 0) / (one.length * other.length);
}

function shuffled<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}

test("[TOOL-20] [ERR-11] the causes of a 403 cannot be told apart by bytes, headers or time", async () => {
  const { id, secret } = await toolgate.createKey({ name: "k", tools: ["released"], limit: 10_000 });
  await toolgate.pool.query("update key_auth.keys set tools = $2 where id = $1", [
    id,
    "{released,hidden,later,deleted}",
  ]);
  await toolgate.manage("key_auth.v1.KeyService/UpdateKey", { keyId: id, name: "k" });
  const times = new Map(Object.keys(CAUSES).map((cause) => [cause, [] as number[]]));
  const shapes = new Set<string>();
  for (let round = 0; round < ROUNDS + WARM_UP_ROUNDS; round += 1) {
    for (const [cause, nameOf] of shuffled(Object.entries(CAUSES))) {
      const name = nameOf(round);
      const began = performance.now();
      const { status, text, headers } = await toolgate.call(name, secret);
      const took = performance.now() - began;
      if (round >= WARM_UP_ROUNDS) times.get(cause)?.push(took);
      const varying = ["date", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit", "x-request-id"];
      const fixed = [...headers].filter(([header]) => !varying.includes(header));
      shapes.add(JSON.stringify([status, text, fixed]));
    }
  }
  expect(shapes.size).toBe(1);
  expect([...shapes][0]).toContain('[403,"{\\"success\\":false,\\"error\\":\\"Tool nicht verfuegbar\\"}"');
  const advantages = [...times].flatMap(([one, its], place) =>
    [...times].slice(place + 1).map(([other, others]) => ({ one, other, share: slowerShare(its, others) })),
  );
  const told = advantages.filter(({ share }) => Math.abs(share - 0.5) > MAX_ADVANTAGE);
  expect(told).toEqual([]);
});
