import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

const LIMIT_MS = 3_000;
const REFUSED_MS = LIMIT_MS + 1_000;
const OTHER_CALLS = 8;
const FAILED = '{"success":false,"error":"Tool konnte nicht ausgefuehrt werden"}';
const BUSY = /^\{"success":false,"error":"Server ausgelastet","retry_after":[0-9]+\}$/;

const resources = new AsyncDisposableStack();
let toolgate: RunningToolgate;
let secret: string;

beforeAll(async () => {
  toolgate = resources.use(await runToolgate("single", { alone: true }));
  const handlers = {
    loop: "for (;;) {}",
    pattern: "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
    harmless: "return 1",
  };
  for (const [name, body] of Object.entries(handlers)) {
    const handler = `export default () => { ${body} };`;
    await toolgate.saveTool(name, { external_api: true, timeout_ms: LIMIT_MS, handler });
  }
  ({ secret } = await toolgate.createKey({ name: "k", tools: Object.keys(handlers), limit: 1_000 }));
  await toolgate.call("harmless", secret);
  for (let processor = 0; processor < availableParallelism(); processor += 1) {
    const loop = spawn(process.execPath, ["-e", "for (;;) {}"], { stdio: "ignore" });
    resources.defer(() => void loop.kill("SIGKILL"));
  }
});
afterAll(() => resources.disposeAsync());

async function timed(tool: string) {
  const begun = performance.now();
  const { status, text } = await toolgate.call(tool, secret);
  return { status, text, ms: performance.now() - begun };
}

for (const tool of ["loop", "pattern"]) {
  test(`[TOOL-2] with every processor busy, ${tool} is answered within its limit, and a harmless tool is served`, async () => {
    const looping = timed(tool);
    for (let call = 0; call < OTHER_CALLS; call += 1) {
      await sleep(LIMIT_MS / OTHER_CALLS);
      expect(await toolgate.call("harmless", secret)).toMatchObject({ status: 200 });
    }
    const { status, text, ms } = await looping;
    expect({ status, text }).toEqual({ status: 400, text: FAILED });
    expect(ms).toBeLessThan(REFUSED_MS);
  });
}

test("[TOOL-2] [ERR-15] many endless runs at once end within their limit, and no refusal speaks of the key's limit", async () => {
  const loops = Array.from({ length: 8 }, () => timed("loop"));
  await sleep(LIMIT_MS / 2);
  expect(await toolgate.call("harmless", secret)).toMatchObject({ status: 200 });
  for (const { status, text, ms } of await Promise.all(loops)) {
    // A run that never began may be tried again.
    if (status === 429) expect(text).toMatch(BUSY);
    else expect({ status, text }).toEqual({ status: 400, text: FAILED });
    expect(ms).toBeLessThan(REFUSED_MS);
  }
});
