import { setTimeout as sleep } from "node:timers/promises";
import { HOST_FUNCTIONS } from "../../../services/tool-runner/src/domain/host-functions.ts";
import { CpuShare } from "../../../services/tool-runner/src/sandbox/child/cpu-share.ts";
import { Isolate } from "../../../services/tool-runner/src/sandbox/child/isolate.ts";
import { compileHandler } from "../../../services/tool-runner/src/sandbox/compile.ts";
import { detectIsolation } from "../../../services/tool-runner/src/sandbox/isolation/detect.ts";
import { DEFAULT_POOL_LIMITS } from "../../../services/tool-runner/src/sandbox/limits.ts";
import { createSandboxPool } from "../../../services/tool-runner/src/sandbox/pool.ts";
import { LocalProcess } from "../../../services/tool-runner/src/sandbox/processes/local-process.ts";
import { type Cost, costOf } from "./cost.ts";

const HANDLER = "export default async (args) => ({ success: true, args });";
const ARGS = JSON.stringify({ text: "hello", count: 3 });
const LIMITS = { wallMs: 30_000, cpuMs: 1_000, resultBytes: 1024 * 1024 };
const POLL_MS = 20;
const LANES = 64;

/** A run in an isolate of this process, and the same run in a sandbox child. */
export async function measureSandboxHop(): Promise<Cost[]> {
  const compiled = compileHandler(HANDLER);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.violations));
  const { code } = compiled;
  using isolate = new Isolate({ functions: HOST_FUNCTIONS, ...DEFAULT_POOL_LIMITS }, new CpuShare());
  isolate.compile(code);
  let ticket = 0;
  const inProcess = () => {
    ticket += 1;
    const step = isolate.run("start", [ticket, ARGS, true, false, LIMITS.resultBytes], LIMITS.cpuMs);
    if ((step.reports[0] as unknown[])[0] !== "ok") throw new Error(step.outcome);
  };
  const isolation = detectIsolation();
  await using pool = createSandboxPool({
    children: 1,
    spawn: (settings, events) => new LocalProcess(settings, isolation, events),
    log: { warn: () => {} },
  });
  while (!pool.isReady()) await sleep(POLL_MS);
  const inChild = async () => {
    const outcome = await pool.run({
      workspaceId: "w",
      standing: "known",
      codeKey: "tool",
      code,
      argsJson: ARGS,
      context: { readOnly: true, testMode: false },
      limits: LIMITS,
      onHostCall: async () => "null",
    });
    if (outcome.kind !== "ok") throw new Error(outcome.message);
  };
  const pids = pool.pids();
  return [
    await costOf("run in an isolate of the same process", inProcess),
    await costOf("run in a sandbox child, one at a time", inChild, undefined, { pids }),
    await costOf(`run in a sandbox child, ${LANES} at a time`, inChild, undefined, { pids, lanes: LANES }),
  ];
}
