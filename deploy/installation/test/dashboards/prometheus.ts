import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@toolgate/local-servers/ports";
import { eventually } from "@toolgate/testbed/eventually";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { stringify } from "yaml";

/** Why Prometheus cannot run here; undefined if it can. */
export async function whyNoPrometheus(): Promise<string | undefined> {
  return promisify(execFile)("prometheus", ["--version"]).then(
    () => undefined,
    () => "no prometheus: it is a package of Debian",
  );
}

/** What Prometheus reads metrics from, with the labels that the chart's ServiceMonitor gives them. */
export interface Target {
  url: string;
  labels: Readonly<Record<"namespace" | "job" | "pod", string>>;
}

/** A series of a query's result. */
interface Sample {
  metric: Record<string, string>;
  value: [time: number, value: string];
}

export interface Prometheus extends AsyncDisposable {
  /** The result of a query at this moment; rejects with what is wrong in it. */
  query(expression: string): Promise<Sample[]>;
}

/** A Prometheus that reads the targets every two seconds and evaluates the rules of the file as often. */
export async function startPrometheus(targets: readonly Target[], rulesFile: string): Promise<Prometheus> {
  const folder = await temporaryFolder();
  const configFile = join(folder, "prometheus.yaml");
  const configuration = {
    global: { scrape_interval: "2s", scrape_timeout: "2s", evaluation_interval: "2s" },
    rule_files: [rulesFile],
    scrape_configs: [
      {
        job_name: "toolgate",
        honor_labels: false,
        static_configs: targets.map(({ url, labels }) => ({ targets: [new URL(url).host], labels })),
      },
    ],
  };
  await writeFile(configFile, stringify(configuration));
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(
    "prometheus",
    [
      `--config.file=${configFile}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=${new URL(url).host}`,
      "--log.level=error",
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const ended = once(child, "exit");
  const prometheus: Prometheus = {
    async query(expression) {
      const body = new URLSearchParams({ query: expression });
      const response = await fetch(`${url}/api/v1/query`, { method: "POST", body });
      const answer = (await response.json()) as { data?: { result: Sample[] }; error?: string };
      if (!answer.data) throw new Error(`${expression}: ${answer.error}`);
      return answer.data.result;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
    },
  };
  await eventually(() => fetch(`${url}/-/ready`).then(({ ok }) => ok), { deadlineMs: 120_000, everyMs: 100 });
  return prometheus;
}
