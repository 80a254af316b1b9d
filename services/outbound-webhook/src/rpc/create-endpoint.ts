import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { principalOf } from "@toolgate/service-host/principal";
import { generateSecret } from "@toolgate/webhook-signing/secret";
import { faultOfDescription, faultOfEvents, MAX_ENDPOINTS_PER_WORKSPACE } from "../domain/endpoint-input.ts";
import { sealingContext } from "../domain/sealing-context.ts";
import type { CheckUrl } from "../domain/url-rules.ts";
import { countEndpoints, insertEndpoint, makeAndLockWorkspace, nextEndpointId } from "../store/endpoint.ts";
import { recordEndpointDeed } from "./audit.ts";
import { refuseFault, toEndpoint } from "./endpoint-message.ts";

export function createEndpoint(deps: {
  pool: Pool;
  secretBox: Pick<SecretBox, "seal">;
  checkUrl: CheckUrl;
  now: () => Date;
}): ServiceImpl<typeof EndpointService>["createEndpoint"] {
  const { pool, secretBox, checkUrl, now } = deps;
  return async (request, context) => {
    const principal = principalOf(context);
    const { workspaceId, workspace } = principal;
    const events = [...new Set(request.events)];
    const { description } = request;
    refuseFault(faultOfEvents(events) ?? faultOfDescription(description));
    const target = await checkUrl(request.url);
    if (!target.ok) throw new ConnectError(target.fault, Code.InvalidArgument);
    const secret = generateSecret();
    const endpoint = await inTransaction(pool, async (client) => {
      await makeAndLockWorkspace(client, workspaceId);
      if ((await countEndpoints(client, workspaceId)) >= MAX_ENDPOINTS_PER_WORKSPACE) {
        const limit = `a workspace has at most ${MAX_ENDPOINTS_PER_WORKSPACE} endpoints`;
        throw new ConnectError(limit, Code.ResourceExhausted);
      }
      const id = await nextEndpointId(client);
      const sealed = secretBox.seal(secret, sealingContext(id));
      const { url } = target;
      const createdAt = now();
      const row = await insertEndpoint(client, {
        id,
        workspaceId,
        workspace,
        url,
        events,
        description,
        secret: sealed,
        createdAt,
      });
      await recordEndpointDeed(client, row, { principal, at: createdAt, action: "endpoint.create" });
      return row;
    });
    return { endpoint: toEndpoint(endpoint), secret };
  };
}
