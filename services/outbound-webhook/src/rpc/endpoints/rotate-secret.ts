import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { generateSecret } from "@toolgate/webhook-signing/secret";
import type { Context } from "../../context.ts";
import { sealingContext } from "../../domain/endpoint.ts";
import { replaceSecret } from "../../store/endpoint.ts";
import { auditEndpoint } from "../audit.ts";
import { endpointKey, noSuchEndpoint, requireEndpoint } from "../request-fields.ts";

export const rotateSecret: Handler<Context, typeof EndpointService.method.rotateSecret> = async (
  { pool, secretBox, now },
  { endpointId },
  call,
) => {
  const principal = principalOf(call);
  const key = endpointKey(principal, endpointId);
  const secret = generateSecret();
  const sealed = secretBox.seal(secret, sealingContext(key.endpointId));
  await inTransaction(pool, async (client) => {
    const at = now();
    if (!(await replaceSecret(client, key, sealed, at))) throw noSuchEndpoint();
    const endpoint = await requireEndpoint(client, key);
    await auditEndpoint(client, endpoint, { principal, at, action: "endpoint.rotate" });
  });
  return { secret };
};
