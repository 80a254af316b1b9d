import { currentRequestId, runForRequest } from "@toolgate/telemetry/request";
import { expect, test } from "vitest";
import { killedPromptly, openPool, runSource, until } from "./sandbox-harness.ts";

test("a log line about a run carries the request id of that run, and other lines carry none", async () => {
  const lines: { message: string; requestId: string; pid: unknown }[] = [];
  const log = {
    warn: ({ pid }: Record<string, unknown>, message: string) =>
      void lines.push({ message, requestId: currentRequestId(), pid }),
  };
  await using pool = openPool(1, {}, { log, spawn: killedPromptly });
  let hostRequest = "";
  const onHostCall = () => {
    hostRequest = currentRequestId();
    return new Promise<string>(() => {});
  };
  const held = runForRequest({ requestId: "of-a" }, () =>
    runSource(pool, "export default async (args, ctx) => ctx.callTool('hold')", { workspaceId: "a", onHostCall }),
  );
  await until("A's run reaches the host", () => hostRequest !== "");
  expect(hostRequest).toBe("of-a");

  const source = "export default async () => new Array(1e9).fill(0)";
  const runB = () =>
    runForRequest({ requestId: "of-b" }, () => runSource(pool, source, { workspaceId: "b", limits: { cpuMs: 200 } }));
  await runB();
  expect((await held).kind).toBe("interrupted");
  const aboutB = [
    expect.objectContaining({ message: "sandbox child ended", requestId: "of-b" }),
    expect.objectContaining({ message: "code harmed a sandbox child", requestId: "of-b" }),
  ];
  expect(lines).toEqual(aboutB);

  // Now in a child of its own, which was started during B's second request.
  await runB();
  expect(lines).toEqual([...aboutB, ...aboutB]);
  lines.length = 0;
  await until("only the idle children are left", () => pool.pids().length === 2);
  const pids = pool.pids();
  for (const pid of pids) process.kill(pid, "SIGKILL");
  await until("all children ended", () => pids.every((pid) => lines.some((line) => line.pid === pid)));
  expect(lines.map(({ requestId }) => requestId)).toEqual(lines.map(() => ""));
});
