import { type DescMessage, fromJsonString, type MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { SignedRequest } from "@toolgate/gen/toolgate/outbound_webhook/v1/signed_pull_pb";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { principalKey } from "@toolgate/service-host/principal";
import { verify } from "@toolgate/webhook-signing/verify";
import { sealingContext } from "../domain/sealing-context.ts";
import { findSigner } from "../store/endpoint.ts";

const MAX_BODY_BYTES = 256 * 1024;

export interface SignedRequestDependencies {
  pool: Pool;
  secretBox: Pick<SecretBox, "open">;
  now: () => Date;
}

/**
 * [OUT-26..32] The request of a receiver that signed it with its endpoint's secret. From here on the call is one of the
 * endpoint's workspace, for this endpoint alone. What is signed for another purpose has other members and is refused.
 */
export async function openSigned<Desc extends DescMessage>(
  { pool, secretBox, now }: SignedRequestDependencies,
  schema: Desc,
  signed: SignedRequest | undefined,
  context: HandlerContext,
): Promise<MessageShape<Desc> & { endpointId: bigint }> {
  const { endpointId = 0n, signature: header = "", body = new Uint8Array() } = signed ?? {};
  if (body.length > MAX_BODY_BYTES) throw new ConnectError("body: at most 256 KB", Code.InvalidArgument);
  if (endpointId < 1n || endpointId > BigInt(Number.MAX_SAFE_INTEGER)) throw notSigned();
  const signer = await findSigner(pool, Number(endpointId));
  if (!signer) throw notSigned();
  const secret = secretBox.open(signer.secret, sealingContext(Number(endpointId)));
  if (!verify({ secret, header, body, now: now().getTime() / 1000 }).ok) throw notSigned();
  const request = parse(schema, body);
  const { workspaceId, workspace } = signer;
  context.values.set(principalKey, { userId: "", email: "endpoint's secret", workspaceId, workspace, role: "manager" });
  return { ...request, endpointId };
}

function parse<Desc extends DescMessage>(schema: Desc, body: Uint8Array): MessageShape<Desc> {
  try {
    return fromJsonString(schema, Buffer.from(body).toString("utf8"));
  } catch {
    throw new ConnectError("body: not JSON with the members of this request", Code.InvalidArgument);
  }
}

function notSigned(): ConnectError {
  return new ConnectError("no such endpoint, or signature missing, wrong or too old", Code.Unauthenticated);
}
