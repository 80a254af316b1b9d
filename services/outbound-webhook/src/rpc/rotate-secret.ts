import type { ServiceImpl } from "@connectrpc/connect";
import type { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { principalOf } from "@toolgate/service-host/principal";
import { generateSecret } from "@toolgate/webhook-signing/secret";
import { sealingContext } from "../domain/sealing-context.ts";
import { findEndpoint, replaceSecret } from "../store/endpoint.ts";
import { recordEndpointDeed } from "./audit.ts";
import { endpointKey, noSuchEndpoint } from "./endpoint-message.ts";

export function rotateSecret(deps: {
  pool: Pool;
  secretBox: Pick<SecretBox, "seal">;
  now: () => Date;
}): ServiceImpl<typeof EndpointService>["rotateSecret"] {
  const { pool, secretBox, now } = deps;
  return async (request, context) => {
    const principal = principalOf(context);
    const key = endpointKey(principal, request.endpointId);
    const secret = generateSecret();
    const sealed = secretBox.seal(secret, sealingContext(key.endpointId));
    await inTransaction(pool, async (client) => {
      const at = now();
      const replaced = await replaceSecret(client, key, sealed, at);
      const endpoint = replaced && (await findEndpoint(client, key));
      if (!endpoint) throw noSuchEndpoint();
      await recordEndpointDeed(client, endpoint, { principal, at, action: "endpoint.rotate" });
    });
    return { secret };
  };
}
