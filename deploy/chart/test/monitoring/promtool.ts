import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";

/** Samples of one series, in the notation of promtool: one a minute, such as `0+60x10`. */
export type Series = readonly [series: string, values: string];

/** What fires at a minute. */
interface AlertTest {
  readonly series: readonly Series[];
  readonly minute: number;
  readonly alert: string;
  /** Look only at alerts of this severity. */
  readonly severity?: string;
  /** The labels of each firing alert besides its name; empty: none fires. */
  readonly firing: readonly Readonly<Record<string, string>>[];
}

const run = promisify(execFile);

/** Why promtool cannot run here; undefined if it can. It is part of Debian's package prometheus. */
export async function whyNoPromtool(): Promise<string | undefined> {
  return run("promtool", ["--version"]).then(
    () => undefined,
    () => "no promtool: it is in Debian's package prometheus",
  );
}

/** Runs promtool check rules; rejects with what it says. */
export async function checkRules(file: string): Promise<void> {
  await run("promtool", ["check", "rules", file]).catch(withOutput);
}

/** Evaluates the rules every minute on the series, and compares what fires. Rejects with the differences. */
export async function testAlert(
  rulesFile: string,
  { series, minute, alert, severity, firing }: AlertTest,
): Promise<void> {
  const labels = (one: Readonly<Record<string, string>>) =>
    Object.entries({ alertname: alert, alertstate: "firing", ...one }).map(([name, value]) => `${name}="${value}"`);
  const test = {
    interval: "1m",
    input_series: series.map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: `ALERTS{alertname="${alert}",alertstate="firing",severity=~"${severity ?? ".*"}"}`,
        eval_time: `${minute}m`,
        exp_samples: firing.map((one) => ({ labels: `ALERTS{${labels(one).join(",")}}`, value: 1 })),
      },
    ],
  };
  const folder = await mkdtemp(join(tmpdir(), "toolgate-rules-"));
  try {
    const file = join(folder, "test.yaml");
    await writeFile(file, stringify({ rule_files: [rulesFile], evaluation_interval: "1m", tests: [test] }));
    await run("promtool", ["test", "rules", file]).catch(withOutput);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function withOutput(error: Error & { stdout?: string; stderr?: string }): never {
  throw new Error(`${error.stdout ?? ""}${error.stderr ?? ""}` || error.message);
}
