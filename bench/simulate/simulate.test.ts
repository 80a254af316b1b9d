import { expect, test } from "vitest";
import { jainsIndex } from "./fairness.ts";
import { DEFAULT_INSTALLATION, type Demand } from "./settings.ts";
import { type Run, simulate } from "./simulate.ts";

const demand = (changed: Partial<Demand> = {}): Demand => ({
  backlogged: { workspaces: 4, endpoints: 5, waiting: 5 },
  feed: "old",
  quiet: { workspaces: 2, betweenEventsMs: 500 },
  receiver: { medianMs: 50, sigma: 0 },
  hanging: 0,
  ...changed,
});
const run = (changed: Partial<Run> = {}): Run => ({
  demand: demand(),
  installation: DEFAULT_INSTALLATION,
  leadMs: 1_000,
  measureMs: 5_000,
  seed: 1,
  ...changed,
});

test("the same seed gives the same figures, and another one different figures", () => {
  const receiver = { medianMs: 50, sigma: 0.5 };
  const varied = run({ demand: demand({ receiver }) });
  expect(simulate(varied)).toEqual(simulate(varied));
  expect(simulate({ ...varied, seed: 2 })).not.toEqual(simulate(varied));
});

test("[FAIR-2] slots limit each workspace: all get the same, and quiet workspaces do not wait", () => {
  const { perSecond, fairness, quiet, quietWaiting } = simulate(run());
  // Five slots, each held for the 50 ms of the receiver and for what surrounds it.
  expect(perSecond).toBeGreaterThan((4 * 5 * 1_000) / 70);
  expect(perSecond).toBeLessThan((4 * 5 * 1_000) / 50);
  expect(fairness).toBeGreaterThan(0.999);
  expect(quiet.count).toBeGreaterThan(10);
  expect(quiet.maxMs).toBeLessThan(100);
  expect(quietWaiting.events).toBeLessThanOrEqual(2);
});

test("[FAIR-3] endpoints that hang hold two slots of their workspace, and the others use the rest", () => {
  // At first they hold all slots, until their first attempts end after 10 s.
  const hanging = simulate(run({ demand: demand({ hanging: 0.6 }), leadMs: 25_000, measureMs: 20_000 }));
  const { perSecond } = simulate(run());
  expect(hanging.perSecond / perSecond).toBeGreaterThan(0.5);
  expect(hanging.perSecond / perSecond).toBeLessThan(0.75);
});

test("a worker whose slots are all in use is the limit, and more workers raise it", () => {
  const installation = { ...DEFAULT_INSTALLATION, workerConcurrency: 8 };
  const one = simulate(run({ installation }));
  const two = simulate(run({ installation: { ...installation, workers: 2 } }));
  expect(one.use.slots).toBeGreaterThan(0.95);
  expect(two.perSecond / one.perSecond).toBeGreaterThan(1.8);
});

test("[FAIR-5] above what the dispatchers can send, workspaces take turns: none starves", () => {
  const backlogged = { workspaces: 400, endpoints: 2, waiting: 4 };
  const installation = { ...DEFAULT_INSTALLATION, dispatchers: 1, workers: 4, turnMs: 1_000 };
  const receiver = { medianMs: 5, sigma: 0 };
  const { use, unserved, fairness } = simulate(run({ demand: demand({ backlogged, receiver }), installation }));
  expect(use.dispatchers).toBeGreaterThan(0.85);
  expect(unserved).toBe(0);
  expect(fairness).toBeGreaterThan(0.5);
});

test("attempts for which no worker has time until their lease is nearly over are not made, and are claimed again", () => {
  const backlogged = { workspaces: 40, endpoints: 5, waiting: 5 };
  const receiver = { medianMs: 9_000, sigma: 0 };
  const installation = { ...DEFAULT_INSTALLATION, workerConcurrency: 16 };
  const { tooLate, unserved } = simulate(
    run({ demand: demand({ backlogged, receiver }), installation, measureMs: 200_000 }),
  );
  expect(tooLate).toBeGreaterThan(0);
  expect(unserved).toBeLessThan(40);
});

test("Jain's index is 1 for equal shares and 1/n when one has everything", () => {
  expect(jainsIndex([3, 3, 3])).toBe(1);
  expect(jainsIndex([5, 0, 0, 0])).toBe(0.25);
  expect(jainsIndex([])).toBe(1);
});
