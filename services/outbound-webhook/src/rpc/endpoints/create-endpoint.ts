import { Code, ConnectError } from "@connectrpc/connect";
import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import { newRandomId } from "@toolgate/postgres/random-id";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { generateSecret } from "@toolgate/webhook-signing/secret";
import type { Context } from "../../context.ts";
import {
  descriptionViolation,
  eventsViolation,
  MAX_ENDPOINTS_PER_WORKSPACE,
  sealingContext,
  toolsViolation,
} from "../../domain/endpoint.ts";
import { countEndpoints, insertEndpoint, makeAndLockWorkspace } from "../../store/endpoint.ts";
import { auditEndpoint } from "../audit.ts";
import { invalidArgument, refuseIf } from "../request-fields.ts";
import { customHeaders, sealHeaders } from "./custom-headers.ts";
import { toEndpoint } from "./endpoint-message.ts";

export const createEndpoint: Handler<Context, typeof EndpointService.method.createEndpoint> = async (
  { pool, secretBox, checkUrl, now },
  request,
  call,
) => {
  const principal = principalOf(call);
  const { workspaceId, workspace } = principal;
  const events = [...new Set(request.events)];
  const { description } = request;
  const tools = [...new Set(request.tools)];
  refuseIf(eventsViolation(events) ?? descriptionViolation(description) ?? toolsViolation(tools));
  const headers = customHeaders(request.headers);
  const target = await checkUrl(request.url, workspaceId);
  if (!target.ok) throw invalidArgument(target.violation);
  const url = target.url.href;
  const secret = generateSecret();
  const endpoint = await inTransaction(pool, async (client) => {
    await makeAndLockWorkspace(client, workspaceId);
    if ((await countEndpoints(client, workspaceId)) >= MAX_ENDPOINTS_PER_WORKSPACE) {
      throw new ConnectError(
        `a workspace has at most ${MAX_ENDPOINTS_PER_WORKSPACE} endpoints`,
        Code.ResourceExhausted,
      );
    }
    // Its secret is sealed for this id.
    const id = newRandomId();
    const sealed = secretBox.seal(secret, sealingContext(id));
    const at = now();
    const values = { url, events, description, tools, headers: sealHeaders(secretBox, id, headers) };
    const row = { id, workspaceId, workspace, ...values, secret: sealed, createdAt: at, createdBy: principal.email };
    const inserted = await insertEndpoint(client, row);
    await auditEndpoint(client, inserted, { principal, at, action: "endpoint.create" });
    return inserted;
  });
  return { endpoint: toEndpoint(endpoint), secret };
};
