import { eventually } from "./eventually.ts";

/** How much of a clock minute is left for calls that must count together, also on a busy machine. */
const LEFT_MS = 20_000;

/** Waits until `fromMs` of a clock minute have passed and enough of it is left for calls that must count together. */
export async function earlyInMinute(fromMs = 0): Promise<void> {
  await eventually(() => Date.now() % 60_000 >= fromMs && Date.now() % 60_000 < 60_000 - LEFT_MS);
}
