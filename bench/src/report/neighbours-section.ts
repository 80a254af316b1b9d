import { type NeighbourFigures, seenIn } from "../neighbours/measure-neighbours.ts";
import { ratio } from "../statistics.ts";
import { byName, figure, table } from "./table.ts";

const MAX_P50_RATIO = 2;
const MAX_P99_RATIO = 3;

type Part = "calls" | "deliveries";
type Value = "p50Ms" | "p99Ms";
type Row = { label: string; figures: NeighbourFigures; of: Part };

export function renderNeighbours(all: readonly NeighbourFigures[]): string {
  const rows = all.flatMap((figures): Row[] => [
    { label: `${figures.what}, ${figures.lanes} lanes`, figures, of: "calls" },
    { label: "… its deliveries", figures, of: "deliveries" },
  ]);
  // All windows without an attack measure the same, so they are taken together.
  const quiet = all.flatMap(({ without }) => without);
  const seen = [...quiet, ...all.flatMap((one) => one.with)];
  const again = seen.reduce((sum, one) => sum + one.again, 0);
  const alone = (of: Part, value: Value) => seenIn(quiet, of, value);
  const times = ({ figures, of }: Row, value: Value) => ratio(seenIn(figures.with, of, value), alone(of, value));
  const isMet = (row: Row) => times(row, "p50Ms") <= MAX_P50_RATIO && times(row, "p99Ms") <= MAX_P99_RATIO;
  const aloneText = (of: Part) => `p50 ${figure(alone(of, "p50Ms"), 1)} ms, p99 ${figure(alone(of, "p99Ms"), 1)} ms`;
  const failed = ({ figures }: Row) => figure(figures.with.reduce((sum, one) => sum + one.failed, 0));
  return [
    "## Noisy neighbours",
    "A quiet workspace calls a plain tool 30 times a second and emits 10 events a second, without and with another workspace that does its worst within all documented bounds.",
    `Without: calls ${aloneText("calls")}; deliveries ${aloneText("deliveries")} (the median of ${quiet.length} windows between the attacks). Windows measured again because the machine itself paused: ${again}. Wanted: p50 at most ${MAX_P50_RATIO} times and p99 at most ${MAX_P99_RATIO} times that:`,
    table(rows, {
      "The other workspace": ({ label }) => label,
      "p50 ms": ({ figures, of }) => figure(seenIn(figures.with, of, "p50Ms"), 1),
      times: (row) => figure(times(row, "p50Ms"), 2),
      "p99 ms": ({ figures, of }) => figure(seenIn(figures.with, of, "p99Ms"), 1),
      "times ": (row) => figure(times(row, "p99Ms"), 2),
      verdict: (row) => (isMet(row) ? "PASS" : "missed"),
      failed: (row) => (row.of === "calls" ? failed(row) : ""),
      "its responses": ({ figures, of }) => (of === "calls" ? byName(figures.noisy, figure) : ""),
    }),
  ].join("\n\n");
}
