import { appendFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { afterAll, describe, expect, test } from "vitest";
import type { TopologyKind } from "../running-toolgate.ts";
import { type Measurement, measureSilences } from "./measure.ts";
import { renderReport, rowsOf } from "./report.ts";

/** Kills of each part; unset in ordinary runs of the tests, which leave this out. */
const ROUNDS = Number(process.env.SILENCE_ROUNDS ?? 0);
const TOPOLOGIES = (process.env.SILENCE_TOPOLOGIES ?? "single;split").split(";") as TopologyKind[];
const ONLY = (process.env.SILENCE_ONLY ?? "").split(";").filter((name) => name !== "");
const SEED = Number(process.env.SILENCE_SEED ?? Date.now() % 1_000_000);
/** Where to write what the processes log. */
const LOG_FILE = process.env.SILENCE_LOG;
const REPORT_FILE = process.env.SILENCE_REPORT;
const START_DEADLINE_MS = 120_000;
const SETTLE_DEADLINE_MS = 150_000;
const MS_PER_ROUND = 1_500_000;

describe.skipIf(ROUNDS === 0)(`the silence of endpoints after each kill (seed ${SEED})`, () => {
  const measurements: Measurement[] = [];
  const at = new Date();
  const logProcess = (line: string) => {
    if (LOG_FILE) appendFileSync(LOG_FILE, `${new Date().toISOString()} ${line}\n`);
  };
  afterAll(async () => {
    if (REPORT_FILE && measurements.length > 0)
      await writeFile(REPORT_FILE, renderReport(measurements, { at, seed: SEED }));
  });

  test.each(TOPOLOGIES)(
    "[OUT-43] in the %s topology no accepted event is lost, whichever part dies",
    async (kind) => {
      const measured = await measureSilences(kind, {
        rounds: ROUNDS,
        seed: SEED,
        only: ONLY,
        log: console.log,
        logProcess,
      });
      measurements.push(measured);
      console.table(rowsOf(measured.kills));
      expect(measured.lost).toBe(0);
    },
    START_DEADLINE_MS + SETTLE_DEADLINE_MS + ROUNDS * MS_PER_ROUND,
  );
});
