import { readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { LANES } from "../src/sandbox/lanes.ts";
import { startToolRunnerRig } from "./tool-runner-rig.ts";

const BOMB = "export default () => Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1);";
const DAY_MS = 24 * 3_600_000;

/** The sandbox children of workspaces that are kept apart. */
function childrenApart(): number[] {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "ascii").trim().split(" ");
  return children.map(Number).filter((pid) => getPriority(pid) === LANES.apart.priority);
}

test("[TOOL-2] a workspace whose code harmed a child is kept apart for a day, on every replica", async () => {
  await using runner = await startToolRunnerRig({ replicas: 2 });
  await runner.saveTool("bomb", { external_api: true, handler: BOMB });
  await runner.saveTool("other", { external_api: true, handler: "export default () => ({ ok: 1 });" });
  for (const replica of [0, 1]) expect(await runner.resultOf({ tool: "other", replica })).toEqual({ ok: 1 });
  expect(childrenApart()).toEqual([]);
  expect((await runner.call({ tool: "bomb" })).outcome.case).toBe("toolFailed");
  const harm = await eventually(async () => {
    const { rows } = await runner.pool.query("select workspace_id, reason from tool_runner.sandbox_harm");
    return rows.length === 1 && rows[0];
  });
  expect(harm).toEqual({ workspace_id: runner.workspaceId, reason: "cpu" });
  // On a busy machine the first replica may have begun the bomb again, in such a child.
  const ofFirst = new Set(childrenApart());
  // The second replica learns it from the database, as one that was started again would.
  await eventually(async () => {
    expect(await runner.resultOf({ tool: "other", replica: 1 })).toEqual({ ok: 1 });
    return childrenApart().some((pid) => !ofFirst.has(pid));
  });
  runner.clock.advance(DAY_MS);
  for (const pid of childrenApart()) process.kill(pid, "SIGKILL");
  await eventually(async () => childrenApart().length === 0);
  expect(await runner.resultOf({ tool: "other", replica: 1 })).toEqual({ ok: 1 });
  expect(childrenApart()).toEqual([]);
});

test("[TOOL-2] a version counts as new until one of its runs has ended by itself, or if its code is that of the last one", async () => {
  await using runner = await startToolRunnerRig();
  const completed = async () => {
    const { rows } = await runner.pool.query(
      "select version, completed_at is not null as done from tool_runner.tool_versions where name = 't' order by version",
    );
    return rows.map(({ done }) => done);
  };
  const save = (description: string, result: number) =>
    runner.saveTool("t", { external_api: true, description, handler: `export default () => ({ n: ${result} });` });
  await save("first", 1);
  expect(await completed()).toEqual([false]);
  expect(await runner.resultOf({ tool: "t" })).toEqual({ n: 1 });
  await eventually(async () => (await completed())[0] === true);
  await save("only the description differs", 1);
  await save("another result", 2);
  expect(await completed()).toEqual([true, true, false]);
});
