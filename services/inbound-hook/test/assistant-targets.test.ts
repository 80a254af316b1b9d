import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { AssistantRunService } from "@toolgate/gen/toolgate/chat/v1/assistant_run_pb";
import { createLogger } from "@toolgate/service-host/logger";
import { createReadiness } from "@toolgate/service-host/readiness";
import { startRpcServer } from "@toolgate/service-host/rpc-server";
import { remoteTransport } from "@toolgate/service-host/transport";
import { expect, test } from "vitest";
import { startHookRig } from "./hook-rig.ts";

const INTERNAL_TOKEN = "internal-token-of-the-test";
const ASSISTANT = { target: { target: { case: "assistant", value: "clerk" } } } as const;

interface Assistant {
  workspaceId: string;
  name: string;
  released: boolean;
}

/** A real gRPC server in the place of the chat service, with these assistants. */
async function startChat(assistants: Assistant[]) {
  const log = createLogger({ service: "chat", level: "silent" });
  const routes = (router: ConnectRouter) =>
    router.service(AssistantRunService, {
      checkAssistant({ workspaceId, assistant }) {
        const found = assistants.find((one) => one.workspaceId === workspaceId && one.name === assistant);
        return { exists: found !== undefined, released: found?.released ?? false };
      },
    });
  const readiness = createReadiness(async () => {});
  const server = await startRpcServer({
    routes,
    host: "127.0.0.1",
    port: 0,
    internalToken: INTERNAL_TOKEN,
    readiness,
    log,
  });
  return {
    transport: remoteTransport(`http://127.0.0.1:${server.port}`, INTERNAL_TOKEN),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const refusal = (code: Code, text: RegExp) =>
  expect.toSatisfy(
    (error: unknown) => error instanceof ConnectError && error.code === code && text.test(error.rawMessage),
    `${Code[code]} ${text}`,
  );

test("[IN-6] [IN-47] [IN-55] an assistant is a target only if its definition releases it for hooks", async () => {
  const assistants: Assistant[] = [];
  await using chat = await startChat(assistants);
  await using rig = await startHookRig({ instances: [["receiver"]], overrides: { chat: chat.transport } });
  const workspace = await rig.newWorkspace();
  const refused = refusal(Code.FailedPrecondition, /the assistant is not released for hooks/);
  await expect(workspace.createHook(ASSISTANT)).rejects.toEqual(refused);
  assistants.push({ workspaceId: "another-workspace", name: "clerk", released: true });
  await expect(workspace.createHook(ASSISTANT)).rejects.toEqual(refused);
  const own = { workspaceId: workspace.id, name: "clerk", released: false };
  assistants.push(own);
  await expect(workspace.createHook(ASSISTANT)).rejects.toEqual(refused);

  own.released = true;
  const { hook, id } = await workspace.createHook(ASSISTANT);
  expect(hook).toMatchObject({ ...ASSISTANT, arguments: { source: { case: "fields" } } });
  // An assistant declares no arguments, so a mapping may name any.
  const mapping = { source: { case: "mapping", value: { pointers: { anything: "/a" } } } } as const;
  const edited = await workspace.hooks.updateHook({ hookId: id, arguments: mapping });
  expect(edited.hook?.arguments).toMatchObject(mapping);
});

test("[IN-55] an installation without a chat service refuses assistants as targets", async () => {
  await using rig = await startHookRig({ instances: [["receiver"]] });
  const workspace = await rig.newWorkspace();
  const refused = refusal(Code.FailedPrecondition, /this installation has no assistants/);
  await expect(workspace.createHook(ASSISTANT)).rejects.toEqual(refused);
});
