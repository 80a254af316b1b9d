import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { render, whyNoHelm } from "../../src/helm.ts";
import { CAUSES } from "../../src/monitoring/causes.ts";
import { OBJECTIVES, ratioSeries } from "../../src/monitoring/objectives.ts";
import { type RuleGroup, WINDOWS } from "../../src/monitoring/rules.ts";
import { CAUSE_CASES, TRAFFIC } from "./alert-cases.ts";
import { checkRules, testAlert, whyNoPromtool } from "./promtool.ts";

const missing = (await whyNoHelm()) ?? (await whyNoPromtool());
if (missing !== undefined) test.skip(`not run: alerts on series of samples (${missing})`, () => {});

const HOUR = 60;
const PER_MINUTE = 60;

test("every alert has a case", () => {
  expect(Object.keys(TRAFFIC)).toEqual(OBJECTIVES.map(({ name }) => name));
  expect(Object.keys(CAUSE_CASES).toSorted()).toEqual(CAUSES.map(({ alert }) => alert).toSorted());
});

describe.runIf(missing === undefined)("the rules of the chart", () => {
  let folder = "";
  let rules = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "toolgate-rules-"));
    rules = join(folder, "rules.yaml");
    const { manifests } = await render("production");
    const { spec } = manifests.find(({ kind }) => kind === "PrometheusRule") ?? { spec: {} };
    await writeFile(rules, stringify(spec));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("are what Prometheus accepts", () => checkRules(rules));

  test("are refused with a fault in a query or a text", async () => {
    const bad = join(folder, "bad.yaml");
    for (const rule of [
      { alert: "A", expr: "sum by (a (b)" },
      { alert: "A", expr: "a > 1", annotations: { summary: "{{ $labels.a" } },
    ]) {
      await writeFile(bad, stringify({ groups: [{ name: "bad", rules: [rule] }] }));
      await expect(checkRules(bad)).rejects.toThrow(/FAILED/);
    }
  });

  describe.each(OBJECTIVES)("$alert", (objective) => {
    const { name, alert, goal } = objective;
    const traffic = TRAFFIC[name] ?? (() => []);
    const ofShare = (bad: number, minutes: number) =>
      traffic({ good: PER_MINUTE * (1 - bad), bad: PER_MINUTE * bad, minutes });
    const tickets = ["1d", "3d"].map((window) => ({ namespace: "tools", window, severity: "ticket" }));
    const pages = ["1h", "6h"].map((window) => ({ namespace: "tools", window, severity: "page" }));
    let own = "";
    beforeAll(async () => {
      own = join(folder, `${name}.yaml`);
      const { groups } = parse(await readFile(rules, "utf8")) as { groups: RuleGroup[] };
      const records = WINDOWS.map((window) => ratioSeries(objective, window));
      const isOwn = (rule: RuleGroup["rules"][number]) => rule.alert === alert || records.includes(rule.record ?? "");
      const of = groups.map((group) => ({ name: group.name, rules: group.rules.filter(isOwn) }));
      await writeFile(own, stringify({ groups: of.filter((group) => group.rules.length > 0) }));
    });

    test("pages within minutes when half of all events are bad, and not in another namespace", async () => {
      const others = ofShare(0, HOUR).map(
        ([series, values]) => [series.replace('namespace="tools"', 'namespace="others"'), values] as const,
      );
      const series = [...ofShare(0.5, HOUR), ...others];
      await testAlert(own, { series, minute: 10, alert, firing: [...pages, ...tickets] });
    });

    test("makes a ticket when the budget would last a week, and nothing when it would last two months", async () => {
      const minute = 7 * HOUR;
      await testAlert(own, { series: ofShare(4 * (1 - goal), minute), minute, alert, firing: tickets });
      await testAlert(own, { series: ofShare(0.5 * (1 - goal), minute), minute, alert, firing: [] });
    });

    test("says nothing about nine bad events, and stops paging soon after a fault", async () => {
      const nine = traffic({ good: 0, bad: 1, minutes: 8 }, { good: 0, bad: 0, minutes: HOUR });
      await testAlert(own, { series: nine, minute: 12, alert, firing: [] });
      const ended = traffic({ good: 30, bad: 30, minutes: 30 }, { good: 60, bad: 0, minutes: HOUR });
      await testAlert(own, { series: ended, minute: 20, alert, severity: "page", firing: pages });
      await testAlert(own, { series: ended, minute: 65, alert, severity: "page", firing: [] });
    });
  });

  describe.each(CAUSES)("$alert", ({ alert, severity }) => {
    const { minute, fires, labels, quiet } = CAUSE_CASES[alert] ?? { minute: 0, fires: [], labels: {}, quiet: [] };

    test("fires", () => testAlert(rules, { series: fires, minute, alert, firing: [{ ...labels, severity }] }));
    test("does not fire while all is well", () => testAlert(rules, { series: quiet, minute, alert, firing: [] }));
  });
});
