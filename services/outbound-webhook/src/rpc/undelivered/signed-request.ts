import { type DescMessage, fromJson, type MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { SignedRequest } from "@toolgate/gen/toolgate/outbound_webhook/v1/signed_pull_pb";
import { principalKey } from "@toolgate/service-host/principal";
import { verify } from "@toolgate/webhook-signing/verify";
import type { Context } from "../../context.ts";
import { sealingContext } from "../../domain/endpoint.ts";
import { findSigner } from "../../store/endpoint.ts";
import { idOf, invalidArgument } from "../request-fields.ts";

const MAX_BODY_BYTES = 256 * 1024;
const OF_USERS = ["workspace", "endpointId", "endpoint_id"];

/**
 * [OUT-26..32] Verifies a receiver's request, signed with its endpoint's secret, and gives the call a principal of the
 * endpoint's workspace. A body that was signed for another purpose is refused because of its unknown fields.
 */
export async function openSigned<Desc extends DescMessage>(
  { pool, secretBox, now }: Context,
  schema: Desc,
  signed: SignedRequest | undefined,
  call: HandlerContext,
): Promise<MessageShape<Desc> & { endpointId: bigint }> {
  const { endpointId = 0n, signature: header = "", body = new Uint8Array() } = signed ?? {};
  if (body.length > MAX_BODY_BYTES) throw invalidArgument("body: at most 256 KB");
  const id = idOf(endpointId, notSigned);
  const signer = await findSigner(pool, id);
  if (!signer) throw notSigned();
  const secret = secretBox.open(signer.secret, sealingContext(id));
  if (!verify({ secret, header, body, now: now().getTime() / 1000 }).ok) throw notSigned();
  const request = parse(schema, body);
  const { workspaceId, workspace } = signer;
  call.values.set(principalKey, { userId: "", email: "endpoint's secret", workspaceId, workspace, role: "manager" });
  return { ...request, endpointId };
}

function parse<Desc extends DescMessage>(schema: Desc, body: Uint8Array): MessageShape<Desc> {
  try {
    const members = JSON.parse(Buffer.from(body).toString("utf8"));
    const request = fromJson(schema, members);
    // The path and the signature name the endpoint; these members belong to the request of a user.
    if (OF_USERS.some((name) => Object.hasOwn(members, name))) throw new SyntaxError("not for receivers");
    return request;
  } catch {
    throw invalidArgument("body: must be JSON with the fields of this request");
  }
}

function notSigned(): ConnectError {
  return new ConnectError("no such endpoint, or signature missing, wrong or too old", Code.Unauthenticated);
}
