import { RunService } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import type { Peers } from "@toolgate/service-host/rpc/peers";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { TestWorkspace } from "../hook-rig.ts";
import { newBody } from "../receive-rig.ts";
import { type ChatServer, createHold, startChat } from "./chat-server.ts";
import { type RunRig, startRunRig } from "./run-rig.ts";

let chat: ChatServer;
let rig: RunRig;
let workspace: TestWorkspace;
/** Holds the replies of assistants and the results of tools. */
let hold: ReturnType<typeof createHold>;

beforeAll(async () => {
  chat = await startChat();
  rig = await startRunRig({ chat: chat.transport, instances: [["receiver"]] });
  workspace = await rig.newWorkspace();
  chat.assistants.push({ workspaceId: workspace.id, name: "clerk", released: true });
});
beforeEach(() => {
  hold = createHold();
  const mine = hold;
  chat.run = async () => {
    await mine.wait();
    return { case: "reply", value: "done" };
  };
});
afterAll(async () => {
  hold?.release();
  await rig?.[Symbol.asyncDispose]();
  await chat?.[Symbol.asyncDispose]();
});

function holdingTools(real: Peers): Peers {
  return {
    ...real,
    call(method) {
      const call = real.call(method);
      return async (request, options) => {
        const response = await call(request, options);
        if ((method as unknown) === RunService.method.run) await hold.wait();
        return response;
      };
    },
  };
}

test("[FAIR-5] a lane that stops lets its tools end, starts nothing more, and leaves the rest to others", async () => {
  const runner = await rig.start(["runner"], { host: { peers: holdingTools(rig.peers) } });
  const hook = await workspace.createHook();
  const running = await rig.accept(hook, newBody());
  await eventually(() => hold.reached === 1);
  let drained = false;
  const draining = runner.drain().then(() => {
    drained = true;
  });
  const waiting = await rig.accept(hook, newBody());
  expect(drained).toBe(false);
  hold.release();
  await draining;
  expect(await rig.outcomeOf(running)).toMatchObject({ status: "succeeded" });
  expect(await rig.outcomeOf(waiting)).toMatchObject({ status: "waiting", runs: [] });
  const next = await rig.start(["runner"]);
  expect(await rig.ended(waiting)).toMatchObject({ status: "succeeded" });
  await next.drain();
});

test("[FAIR-5] [IN-63] a process that stops waits for no assistant; the next one gets the reply of the same chat", async () => {
  const runner = await rig.start(["runner"]);
  const target = { target: { case: "assistant", value: "clerk" } } as const;
  const id = await rig.accept(await workspace.createHook({ target }), newBody());
  await eventually(() => hold.reached === 1);
  await runner.drain();
  expect(await rig.outcomeOf(id)).toMatchObject({ status: "waiting", error: "", runs: [] });
  const next = await rig.start(["runner"]);
  await eventually(() => hold.reached === 2);
  hold.release();
  expect(await rig.ended(id)).toMatchObject({ status: "succeeded", last: { number: 1, result: "done" } });
  const chats = chat.requests.filter(({ deliveryId }) => deliveryId === id).map(({ chatId }) => chatId);
  expect(chats).toHaveLength(2);
  expect(new Set(chats).size).toBe(1);
  await next.drain();
});
