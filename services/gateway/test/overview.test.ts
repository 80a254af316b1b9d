import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { Role, SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { expect, test } from "vitest";
import { testServer } from "./test-server.ts";

/** The overview that a gateway gives when these services fail, each with its code. */
async function overview(failures: Record<string, Code>) {
  const principals: unknown[] = [];
  const part =
    <T>(service: string, response: T) =>
    (_: unknown, { requestHeader }: { requestHeader: Headers }): T => {
      principals.push(requestHeader.get("toolgate-principal"));
      const code = failures[service];
      if (code !== undefined) throw new ConnectError("no", code);
      return response;
    };
  const app = await testServer({
    transports: {
      "key-auth": createRouterTransport((router) => {
        router.rpc(SessionService.method.authorize, () => ({
          workspaceId: "w",
          role: Role.MANAGER,
          principal: "signed",
        }));
        router.rpc(KeyService.method.getKeyOverview, part("key-auth", { hasKey: true }));
      }),
      "tool-runner": createRouterTransport((router) => {
        router.rpc(ToolService.method.getToolOverview, part("tool-runner", { hasReleasedTool: true }));
      }),
      "outbound-webhook": createRouterTransport((router) => {
        router.rpc(EndpointService.method.getEndpointOverview, part("outbound-webhook", { hasEndpoint: true }));
      }),
      "inbound-hook": createRouterTransport((router) => {
        router.rpc(HookService.method.getHookOverview, part("inbound-hook", { failing: [{ name: "Orders" }] }));
      }),
      chat: createRouterTransport((router) => {
        router.rpc(ModelService.method.getChatOverview, part("chat", { tokensToday: 7n }));
      }),
    },
  });
  const response = await app.inject({
    method: "POST",
    url: "/toolgate.gateway.v1.OverviewService/GetOverview",
    headers: { authorization: "Bearer known", "content-type": "application/json" },
    payload: '{"workspace":"acme"}',
  });
  await app.close();
  return { status: response.statusCode, body: response.json(), principals };
}

const WHOLE = {
  keys: { hasKey: true },
  tools: { hasReleasedTool: true },
  endpoints: { hasEndpoint: true },
  hooks: { failing: [{ name: "Orders" }] },
  chats: { tokensToday: "7" },
};

test("[MGMT] an overview has the part of every service, each asked as the user", async () => {
  expect(await overview({})).toEqual({ status: 200, body: WHOLE, principals: Array(5).fill("signed") });
});

test("[MGMT] a part whose service is down, fails or does not know the call yet is left out", async () => {
  const failures = { "key-auth": Code.Unavailable, chat: Code.Internal, "inbound-hook": Code.Unimplemented };
  const { tools, endpoints } = WHOLE;
  expect(await overview(failures)).toMatchObject({ status: 200, body: { tools, endpoints } });
  expect(Object.keys((await overview(failures)).body)).toEqual(["tools", "endpoints"]);
});

test("[MGMT-4] a user whom a service refuses gets no other part either", async () => {
  expect(await overview({ chat: Code.PermissionDenied })).toMatchObject({
    status: 403,
    body: { code: "permission_denied" },
  });
});
