import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultsOf } from "../src/checks/all.ts";
import { render, whyNoHelm } from "../src/helm.ts";
import { CHART } from "../src/paths.ts";
import { FAULTS } from "./injected-faults.ts";
import { MONITORING_FAULTS } from "./monitoring/injected-faults.ts";

const missing = await whyNoHelm();
if (missing !== undefined) test.skip(`not run: faults in copies of the chart (${missing})`, () => {});

describe.runIf(missing === undefined)("a fault in a copy of the chart is found", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "toolgate-chart-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each([...FAULTS, ...MONITORING_FAULTS])("%s", async (name, file, from, to, finding, profile = "small") => {
    const chart = join(folder, name.replaceAll(" ", "-"));
    await cp(CHART, chart, { recursive: true });
    const text = await readFile(join(chart, file), "utf8");
    expect(text).toContain(from);
    await writeFile(join(chart, file), text.replaceAll(from, to));
    const found = await render(profile, { chart }).then(faultsOf, (error: Error) => [error.message]);
    expect(found.join("\n")).toMatch(finding);
  });
});
