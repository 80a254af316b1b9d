import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env, execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "@toolgate/local-servers/ports";
import { eventually } from "@toolgate/testbed/eventually";

const run = promisify(execFile);
const START_DEADLINE_MS = 180_000;

type Command = readonly [file: string, ...args: string[]];

/** A sample receiver of docs/samples, and how it is run. Commands run in its folder. */
type Sample = {
  readonly name: string;
  readonly interpreter: Command;
  /** Run once before the first start; `scratch` is a folder for its output. */
  readonly build?: (scratch: string) => Command;
  readonly start: (scratch: string, port: number) => Command;
  /** Prints, as a JSON list in its last line, the ids of events in the order in which the sample processes them. */
  readonly order?: (events: string) => Command;
  /**
   * Accepts deliveries `a`, `b`, `a`, `c`, `a`, `d` where two ids are remembered and four events may wait; prints the
   * statuses as a JSON list in its last line.
   */
  readonly bounds?: Command;
  /** The sample's own tests, for what cannot be tested from outside. */
  readonly ownTests?: Command;
};

export const SAMPLES: readonly Sample[] = [
  {
    name: "javascript",
    interpreter: [execPath, "--version"],
    start: () => [execPath, "receiver.mjs"],
    order: (events) => [
      execPath,
      "--input-type=module",
      "--eval",
      `import { inOrder } from "./receiver.mjs";
       console.log(JSON.stringify(inOrder(JSON.parse(process.argv[1])).map(({ id }) => id)));`,
      events,
    ],
    bounds: [
      execPath,
      "--input-type=module",
      "--eval",
      `import { Inbox } from "./receiver.mjs";
       const inbox = new Inbox({ maxRemembered: 2, maxWaiting: 4 });
       console.log(JSON.stringify([..."abacad"].map((delivery) => inbox.accept(delivery, { id: delivery, type: "t" }))));`,
    ],
  },
  {
    name: "python",
    interpreter: ["python3", "--version"],
    start: () => ["python3", "receiver.py"],
    order: (events) => [
      "python3",
      "-c",
      "import json, sys, receiver\nprint(json.dumps([e['id'] for e in receiver.in_order(json.loads(sys.argv[1]))]))",
      events,
    ],
    bounds: [
      "python3",
      "-c",
      "import receiver\nreceiver.MAX_REMEMBERED, receiver.MAX_WAITING = 2, 4\ninbox = receiver.Inbox()\n" +
        "print([inbox.accept(delivery, {'id': delivery, 'type': 't'}) for delivery in 'abacad'])",
    ],
  },
  {
    name: "php",
    interpreter: ["php", "--version"],
    start: (_scratch, port) => ["php", "-S", `127.0.0.1:${port}`, "receiver.php"],
    order: (events) => [
      "php",
      "-r",
      "require 'receiver.php'; echo json_encode(array_column(inOrder(json_decode($argv[1], true)), 'id'));",
      events,
    ],
    // The first `define` of a name wins; a waiting event of one byte takes five in the file.
    bounds: [
      "php",
      "-r",
      "error_reporting(0); define('MAX_REMEMBERED', 2); define('MAX_INBOX_BYTES', 19); require 'receiver.php';" +
        "foreach (str_split('abacad') as $id) {" +
        "  clearstatcache(); $statuses[] = accept($id, ['id' => $id, 'type' => 't'], 'x');" +
        "} echo json_encode($statuses);",
    ],
  },
  {
    name: "go",
    interpreter: ["go", "version"],
    build: (scratch) => ["go", "build", "-o", join(scratch, "receiver"), "."],
    start: (scratch) => [join(scratch, "receiver")],
    ownTests: ["go", "test", "./..."],
  },
];

/** Whether the interpreter or compiler of a sample is missing on this machine. */
export function isMissing({ interpreter: [file, ...args] }: Sample): boolean {
  return spawnSync(file, args, { stdio: "ignore" }).status !== 0;
}

function folderOf({ name }: Sample): string {
  return fileURLToPath(new URL(`../../../../docs/samples/receiver/${name}`, import.meta.url));
}

function environment(scratch: string, more: Record<string, string> = {}) {
  const { PATH = "", HOME = scratch } = env;
  const forGo = { GOPROXY: "off", GOTOOLCHAIN: "local" };
  return { PATH, HOME, ...forGo, PYTHONDONTWRITEBYTECODE: "1", WEBHOOK_STATE: join(scratch, "state"), ...more };
}

async function makeScratch(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "sample-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** The output of a command in the folder of a sample; rejects when the command fails. */
export async function outputOf(sample: Sample, [file, ...args]: Command): Promise<string> {
  await using scratch = await makeScratch();
  const { stdout } = await run(file, args, { cwd: folderOf(sample), env: environment(scratch.path) });
  return stdout.trim();
}

/** A running sample; `lines` returns the lines that it has printed. */
export type RunningSample = AsyncDisposable & {
  readonly url: string;
  lines(): readonly string[];
  isRunning(): boolean;
};

/** Starts a sample on a free port with these variables; fails when it ends early. */
export async function startSample(sample: Sample, variables: Record<string, string>): Promise<RunningSample> {
  await using opening = new AsyncDisposableStack();
  const resources = opening.use(new AsyncDisposableStack());
  const { path: scratch } = resources.use(await makeScratch());
  const cwd = folderOf(sample);
  const port = await freePort();
  const [builder, ...buildArgs] = sample.build?.(scratch) ?? [];
  if (builder) await run(builder, buildArgs, { cwd, env: environment(scratch) });
  const [file, ...args] = sample.start(scratch, port);
  const child = spawn(file, args, { cwd, env: environment(scratch, { PORT: String(port), ...variables }) });
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  resources.defer(async () => {
    if (isRunning() && child.kill()) await once(child, "exit");
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  child.stderr.resume();
  const url = `http://127.0.0.1:${port}`;
  const isUp = () => fetch(url).then((response) => response.status > 0);
  await eventually(() => !isRunning() || isUp(), { deadlineMs: START_DEADLINE_MS });
  if (!isRunning()) throw new Error(`the sample ended with ${child.exitCode ?? child.signalCode}`);
  opening.move();
  return {
    url,
    lines: () => printed.split("\n"),
    isRunning,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
