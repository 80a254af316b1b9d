import type { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { parseIp } from "@toolgate/ip-address/ip-address";
import { type Network, parseNetwork } from "@toolgate/ip-address/network";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { explainCall as explain } from "../../domain/explanation.ts";
import { findKey } from "../../store/keys.ts";
import { findWorkspaceById } from "../../store/workspaces.ts";
import { invalid, noSuchKey } from "../errors.ts";

const MAX_TOOL_CHARACTERS = 200;

export const explainCall: Handler<Context, typeof KeyService.method.explainCall> = async (context, request, call) => {
  const { workspaceId } = principalOf(call);
  const { tool, clientIp } = request;
  if (tool === "" || tool.length > MAX_TOOL_CHARACTERS) throw invalid("tool", `1 to ${MAX_TOOL_CHARACTERS} characters`);
  if (clientIp !== "" && !parseIp(clientIp)) throw invalid("client_ip", "must be an IPv4 or IPv6 address");
  const key = await findKey(context.pool, workspaceId, request.keyId);
  if (!key) throw noSuchKey();
  const now = context.now();
  const [workspace, release, used] = await Promise.all([
    findWorkspaceById(context.pool, workspaceId),
    context.tools.explain(workspaceId, tool),
    context.counter.used(key.id).catch(() => undefined),
  ]);
  return explain({
    key,
    networks: key.allowedNetworks.map(parseNetwork).filter((network): network is Network => !("fault" in network)),
    clientIp,
    used,
    workspaceLocked: workspace?.locked ?? false,
    tool,
    release,
    now,
  });
};
