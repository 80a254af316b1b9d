import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport, type Transport } from "@connectrpc/connect";
import { ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { OverviewService } from "@toolgate/gen/toolgate/gateway/v1/overview_pb";
import { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { CLIENT_ADDRESS_HEADER, PRINCIPAL_HEADER } from "@toolgate/service-host/principal";
import type { Logger } from "@toolgate/service-host/process/logger";
import type { Peers } from "@toolgate/service-host/rpc/peers";

/** So that a service that hangs does not hold up the rest. */
const PART_TIMEOUT_MS = 5_000;
/** A service that refuses the user does so for every part. */
const REFUSALS: readonly Code[] = [Code.Unauthenticated, Code.PermissionDenied, Code.NotFound];

/** The gateway's own RPC: asks every service for its part, and leaves out those that do not answer. */
export function overviewTransport(peers: Peers, log: Logger): Transport {
  const keys = createClient(KeyService, peers.transport("key-auth"));
  const tools = createClient(ToolService, peers.transport("tool-runner"));
  const endpoints = createClient(EndpointService, peers.transport("outbound-webhook"));
  const hooks = createClient(HookService, peers.transport("inbound-hook"));
  const chats = createClient(ModelService, peers.transport("chat"));

  async function partOf<M extends Message>(name: string, response: Promise<M>): Promise<Record<string, M>> {
    try {
      return { [name]: await response };
    } catch (error) {
      if (REFUSALS.includes(ConnectError.from(error).code)) throw error;
      log.warn({ err: error, part: name }, "a part of an overview is not available");
      return {};
    }
  }

  return createRouterTransport(({ service }) => {
    service(OverviewService, {
      async getOverview({ workspace }, { requestHeader }) {
        const headers = new Headers();
        for (const name of [PRINCIPAL_HEADER, CLIENT_ADDRESS_HEADER]) headers.set(name, requestHeader.get(name) ?? "");
        const options = { headers, timeoutMs: PART_TIMEOUT_MS };
        const parts = await Promise.all([
          partOf("keys", keys.getKeyOverview({ workspace }, options)),
          partOf("tools", tools.getToolOverview({ workspace }, options)),
          partOf("endpoints", endpoints.getEndpointOverview({ workspace }, options)),
          partOf("hooks", hooks.getHookOverview({ workspace }, options)),
          partOf("chats", chats.getChatOverview({ workspace }, options)),
        ]);
        return Object.assign({}, ...parts);
      },
    });
  });
}
