import type { ConnectRouter, Transport } from "@connectrpc/connect";
import {
  AssistantRunService,
  type RunForHookRequest,
  type RunForHookResponse,
} from "@toolgate/gen/toolgate/chat/v1/assistant_run_pb";
import { createLogger } from "@toolgate/service-host/process/logger";
import { createReadiness } from "@toolgate/service-host/process/readiness";
import { startRpcServer } from "@toolgate/service-host/rpc/rpc-server";
import { testAuthentication, testRemote } from "@toolgate/testbed/transports";

export interface Assistant {
  workspaceId: string;
  name: string;
  released: boolean;
}

export interface ChatServer extends AsyncDisposable {
  transport: Transport;
  assistants: Assistant[];
  /** The runs that were requested. */
  requests: RunForHookRequest[];
  /** What a released assistant does; by default it replies "done". */
  run: (request: RunForHookRequest) => Promise<RunForHookResponse["outcome"]>;
}

/** A real gRPC server in the place of the chat service. */
export async function startChat(assistants: Assistant[] = []): Promise<ChatServer> {
  const log = createLogger({ service: "chat", level: "silent" });
  const find = ({ workspaceId, assistant }: { workspaceId: string; assistant: string }) =>
    assistants.find((one) => one.workspaceId === workspaceId && one.name === assistant);
  const routes = (router: ConnectRouter) =>
    router.service(AssistantRunService, {
      checkAssistant(request) {
        const found = find(request);
        return { exists: found !== undefined, released: found?.released ?? false };
      },
      async runForHook(request) {
        chat.requests.push(request);
        if (!find(request)?.released) return { outcome: { case: "notReleased", value: {} } };
        return { outcome: await chat.run(request), durationMs: 7 };
      },
    });
  const readiness = createReadiness(async () => {});
  const server = await startRpcServer({
    routes,
    host: "127.0.0.1",
    port: 0,
    authentication: testAuthentication("chat"),
    readiness,
    log,
  });
  const chat: ChatServer = {
    transport: testRemote(`http://127.0.0.1:${server.port}`, "chat"),
    assistants,
    requests: [],
    run: async () => ({ case: "reply", value: "done" }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return chat;
}

/** Holds runs until they are let go. */
export function createHold() {
  let [waiting, held] = [0, true];
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    /** Runs that have reached the hold, let go or not. */
    get reached() {
      return waiting;
    },
    async wait(): Promise<void> {
      waiting += 1;
      if (held) await promise;
    },
    release(): void {
      held = false;
      resolve();
    },
  };
}
