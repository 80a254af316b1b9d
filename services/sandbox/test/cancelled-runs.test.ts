import { expect, test } from "vitest";
import { NO_ISOLATION } from "../src/isolation/detect.ts";
import type { SpawnProcess } from "../src/processes/engine-process.ts";
import { handler, openPool, runSource, spawnIn, until } from "./sandbox-harness.ts";

/** Children whose output can be held back. */
function holdable() {
  let isHeld = false;
  let held: { chunk: Buffer; pass: () => void }[] = [];
  const spawn: SpawnProcess = (events) =>
    spawnIn(NO_ISOLATION)({
      ...events,
      onData: (chunk) => {
        if (isHeld) held.push({ chunk, pass: () => events.onData(chunk) });
        else events.onData(chunk);
      },
    });
  return {
    spawn,
    hold: () => {
      isHeld = true;
    },
    text: () => held.map(({ chunk }) => chunk.toString()).join(""),
    release: () => {
      isHeld = false;
      for (const { pass } of held.splice(0)) pass();
      held = [];
    },
  };
}

test("[TOOL-2] a child that confirms each cancelled run late but in time is not killed, and one that does not is", async () => {
  const output = holdable();
  let time = 0;
  let looks = 0;
  const now = () => {
    looks += 1;
    return time;
  };
  await using pool = openPool({}, { spawn: output.spawn, now });
  const start = async () => {
    const called = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<string>();
    const leave = new AbortController();
    const onHostCall = () => {
      called.resolve();
      return gate.promise;
    };
    const outcome = runSource(pool, handler("await ctx.callTool('x')"), { onHostCall, signal: leave.signal });
    await called.promise;
    return { outcome, leave: () => leave.abort(), finish: () => gate.resolve("null") };
  };
  const [first, second, third, innocent, other] = [
    await start(),
    await start(),
    await start(),
    await start(),
    await start(),
  ];
  const cancel = async (run: typeof first, afterMs: number) => {
    output.hold();
    run.leave();
    await until("the child has confirmed", () => output.text().includes('"lost"'));
    time += afterMs;
    const before = looks;
    await until("the pool has looked at its children", () => looks > before + 20);
    output.release();
  };
  await cancel(first, 3_000);
  await cancel(second, 3_000);
  innocent.finish();
  expect((await innocent.outcome).kind).toBe("ok");
  output.hold();
  third.leave();
  time += 5_000;
  expect((await other.outcome).kind).toBe("interrupted");
});
