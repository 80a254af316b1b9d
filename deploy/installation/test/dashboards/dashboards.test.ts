import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { type ChatFrontDoor, openChat } from "../chat/front-door.ts";
import { createHook, ECHO, post } from "../hooks/hooks.ts";
import { type Prometheus, startPrometheus, type Target, whyNoPrometheus } from "./prometheus.ts";

const CHART = new URL("../../../../charts/toolgate/files/", import.meta.url);
const NAMESPACE = "tools";
/** Processes that have another name in the chart, or that are several there. */
const JOBS: Readonly<Record<string, string>> = {
  sandbox: "tool-runner-sandbox",
  "outbound-webhook": "outbound-webhook-worker",
};
/** Panels that count faults, of which this load has none. */
const AFTER_FAULTS = [
  "Call streams lost",
  "Children that ended",
  "Taken over from another worker",
  "Requests that failed",
  "Gaps of live events",
];
const PATIENCE = { deadlineMs: 240_000, everyMs: 500 };
const DEADLINE_MS = 400_000;

const missing = await whyNoPrometheus();
if (missing !== undefined) test.skip(`not run: the dashboards on metrics of an installation (${missing})`, () => {});

test.runIf(missing === undefined)(
  "every panel of every dashboard shows something in Prometheus while an installation has all kinds of traffic",
  async () => {
    const door = await openChat("split");
    await using toolgate = door.toolgate;
    await using prometheus = await startPrometheus(targetsOf(door), file("rules/toolgate.yaml"));
    const load = await prepareLoad(door);
    const panels = await panelsOf(prometheus);
    let empty = panels;
    // Counters show something once they have risen between two readings.
    await eventually(async () => {
      await load();
      const still = await Promise.all(empty.map(async (panel) => ((await panel.shows()) ? [] : [panel])));
      empty = still.flat();
      expect(
        empty.map(({ name }) => name).filter((name) => !AFTER_FAULTS.some((title) => name.endsWith(title))),
      ).toEqual([]);
    }, PATIENCE);
    expect(panels.length).toBeGreaterThan(100);
    expect(toolgate.opsUrls.length).toBeGreaterThan(5);
  },
  DEADLINE_MS,
);

const file = (path: string) => fileURLToPath(new URL(path, CHART));

function targetsOf({ toolgate }: ChatFrontDoor): Target[] {
  const processes = toolgate.processes();
  return toolgate.opsUrls.map((url, index) => {
    const name = processes[index]?.name ?? "";
    return { url, labels: { namespace: NAMESPACE, job: JOBS[name] ?? name, pod: `${name}-0` } };
  });
}

interface Panel {
  /** Dashboard and title. */
  name: string;
  /** Whether its query returns a number now. */
  shows(): Promise<boolean>;
}

async function panelsOf(prometheus: Prometheus): Promise<Panel[]> {
  const files = await readdir(file("dashboards"));
  const panels = files.map(async (name) => {
    const dashboard = JSON.parse(await readFile(file(`dashboards/${name}`), "utf8")) as {
      panels: { title: string; targets?: { expr: string }[] }[];
    };
    return dashboard.panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({
        name: `${name}: ${title}`,
        async shows() {
          const query = expr.replaceAll("$namespace", NAMESPACE).replaceAll("$__rate_interval", "30s");
          const series = await prometheus.query(query);
          return series.some(({ value: [, value] }) => Number.isFinite(Number(value)));
        },
      })),
    );
  });
  return (await Promise.all(panels)).flat();
}

/** A tool call, a refused one, a webhook, a hook call and a chat answer, again each time that it is called. */
async function prepareLoad({ toolgate, stream }: ChatFrontDoor): Promise<() => Promise<void>> {
  await toolgate.saveTool("echo", { ...ECHO, external_api: true, webhook_event: true });
  await toolgate.createEndpoint(["tool.completed"]);
  const open = await toolgate.createKey({ name: "open", tools: ["echo"], limit: 10_000 });
  const limited = await toolgate.createKey({ name: "limited", tools: ["echo"], limit: 1 });
  const hook = await createHook(toolgate, { format: "HOOK_FORMAT_BEARER" });
  // Too fast for its limit.
  const narrow = await createHook(toolgate, { format: "HOOK_FORMAT_BEARER", name: "Narrow", limit: 1 });
  const call = ({ path, secret }: typeof hook) =>
    post(toolgate, { path }, { body: "{}", headers: { authorization: `Bearer ${secret}` } });
  let turn = 0;
  return async () => {
    turn += 1;
    await Promise.all([
      toolgate.call("echo", open.secret, { text: "a" }),
      toolgate.call("echo", limited.secret, { text: "a" }),
      toolgate.manage("tool_runner.v1.ToolService/GetTool", { name: "missing" }).catch(() => {}),
      call(hook),
      call(narrow),
    ]);
    await (await stream({ chat_id: `chat-${turn}`, message: "greet Ada" })).ended;
  };
}
