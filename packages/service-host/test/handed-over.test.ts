import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createClient, type UnaryRequest } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import {
  ListToolsRequestSchema,
  type ListToolsResponse,
  ListToolsResponseSchema,
  ToolService,
} from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { principalHeaders } from "@toolgate/testbed/principals";
import { testTransport } from "@toolgate/testbed/transports";
import { expect, test } from "vitest";
import { handOver } from "../src/rpc/handed-over.ts";
import { recordedLog } from "./rpc-rig.ts";

const headers = principalHeaders({ userId: "u", email: "a@b.c", workspaceId: "w", workspace: "acme", role: "admin" });
const pageOf = (nextPageToken: string) => create(ListToolsResponseSchema, { nextPageToken });

const transportOf = (routes: (router: ConnectRouter) => void) => testTransport(routes, recordedLog().log);
const toolsWith = (listTools: (request: { workspace: string }) => Promise<ListToolsResponse>) =>
  createClient(
    ToolService,
    transportOf((router) => router.service(ToolService, { listTools })),
  );
const sessions = createClient(
  SessionService,
  transportOf((router) =>
    router.service(SessionService, {
      getKeySet: () => ({ jwksJson: "keys" }),
      getSession: () => ({ email: "ann@acme.example" }),
      logout: () => {
        throw new ConnectError("not now", Code.Unavailable);
      },
    }),
  ),
);

test("[NFR] a caller in the same process gets the message that the handler returned, not a copy", async () => {
  const page = pageOf("page");
  expect(await toolsWith(async () => page).listTools({}, { headers })).toBe(page);
});

test("[NFR] a handler gets a copy of the request", async () => {
  const request = create(ListToolsRequestSchema, { workspace: "acme" });
  let received: unknown;
  const tools = toolsWith(async (copy) => {
    received = copy;
    return pageOf("");
  });
  await tools.listTools(request, { headers });
  expect(received).toEqual(request);
  expect(received).not.toBe(request);
});

test("[NFR] calls at the same time, and calls that handlers make, do not mix up responses", async () => {
  const tools = toolsWith(async ({ workspace }) => {
    const [{ jwksJson }, { email }] = await Promise.all([sessions.getKeySet({}), sessions.getSession({}, { headers })]);
    const failure = await sessions.logout({}, { headers }).catch((error) => ConnectError.from(error).rawMessage);
    return pageOf(`${workspace} ${jwksJson} ${email} ${failure}`);
  });
  const names = ["a", "b", "c"];
  const pages = await Promise.all(names.map((workspace) => tools.listTools({ workspace }, { headers })));
  expect(pages.map(({ nextPageToken }) => nextPageToken)).toEqual(
    names.map((name) => `${name} keys ann@acme.example not now`),
  );
});

test("[NFR] the message of a response that comes after its caller has left is not kept for it", async () => {
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const { leave, take } = handOver();
  const request = { stream: false, method: ToolService.method.listTools } as unknown as UnaryRequest;
  const page = pageOf("late");
  let left: Promise<unknown> | undefined;
  const call = take(async (taken) => {
    left = leave(async () => {
      begun.resolve();
      await gate.promise;
      return { stream: false, method: taken.method, message: page } as never;
    })(taken);
    throw new ConnectError("the caller has left", Code.Canceled);
  })(request);
  await begun.promise;
  await expect(call).rejects.toMatchObject({ code: Code.Canceled });
  gate.resolve();
  expect(await left).toMatchObject({ message: page });
});

test("a response that was not handed over is an error that names the RPC", async () => {
  const { take } = handOver();
  const request = { stream: false, method: ToolService.method.listTools } as unknown as UnaryRequest;
  const call = take(async () => ({ stream: false }) as never)(request);
  await expect(call).rejects.toThrow("ListTools: the response was not handed over");
});

test("tests notice responses that another process would get with other values, and changes of a response", async () => {
  const unpaired = toolsWith(async () => pageOf("\ud83d"));
  await expect(unpaired.listTools({}, { headers })).rejects.toThrow("another process gets other values");
  const page = await toolsWith(async () => pageOf("page")).listTools({}, { headers });
  expect(() => {
    page.nextPageToken = "";
  }).toThrow(TypeError);
});
