import { eventually } from "@toolgate/testbed/eventually";
import { expect } from "vitest";
import { chatsOf, saveAssistant } from "../chat/front-door.ts";
import { recordCalls } from "../load/calls.ts";
import { readArrivals, readLogs } from "../load/evidence.ts";
import { brokenHookCalls, failedCalls, missingEvents, missingFromLogs } from "../load/tally.ts";
import { makeRetriesDue } from "../load/unsettled.ts";
import { type LoadWorkspace, prepareWorkspace, TOOL_NAMES } from "../load/workspace.ts";
import type { RunningToolgate } from "../running-toolgate.ts";

/** Tools that a key and a hook may call and whose runs are delivered to endpoints, and an assistant. */
export async function setUp(toolgate: RunningToolgate): Promise<LoadWorkspace> {
  const workspace = await prepareWorkspace(toolgate);
  await saveAssistant(toolgate, TOOL_NAMES);
  return workspace;
}

/** Sends a message, with a file if there is one; resolves with the reply. */
export async function ask(toolgate: RunningToolgate, message: string, file?: string): Promise<string> {
  const { tenant, user } = await chatsOf(toolgate);
  const form = new FormData();
  for (const [name, value] of Object.entries({ tenant, chat_id: "c", message })) form.append(name, value);
  if (file !== undefined) form.append("file", new Blob([file]), "note.txt");
  const { status, body } = await toolgate.request("/chat/index", { method: "POST", headers: user.headers, body: form });
  expect([status, body.reply]).toEqual([200, expect.stringMatching(/./)]);
  return String(body.reply);
}

/**
 * Everything that an installation is for: calls of each tool and their deliveries, a hook, a chat. Their numbers begin with
 * this one. Fails if something does not work.
 */
export async function useAll(toolgate: RunningToolgate, workspace: LoadWorkspace, first: number): Promise<void> {
  const { calls, hookCalls, call, callHook } = recordCalls(toolgate, workspace);
  for (const index of TOOL_NAMES.keys()) await call(first + index);
  await callHook(first + TOOL_NAMES.length);
  expect(failedCalls(calls)).toEqual([]);
  await eventually(async () => {
    await makeRetriesDue(toolgate.pool);
    const logs = await readLogs(toolgate.pool);
    const arrivals = readArrivals(toolgate.receiver.requests, workspace);
    expect(missingFromLogs(calls, logs)).toEqual([]);
    expect(brokenHookCalls(hookCalls, logs, arrivals)).toEqual([]);
    expect(hookCalls.map(({ n }) => logs.hooks.get(n)?.[0]?.status)).toEqual(["succeeded"]);
    expect(missingEvents(calls, hookCalls, logs, arrivals)).toEqual([]);
  });
  await ask(toolgate, `say ${first}`);
}
