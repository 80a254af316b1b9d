import { type DescMessage, type Message, type MessageShape, toJsonString } from "@bufbuild/protobuf";
import { type CallOptions, Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJson } from "@connectrpc/connect/protocol-connect";
import { SignedPullService, type SignedRequest } from "@toolgate/gen/toolgate/outbound_webhook/v1/signed_pull_pb";
import {
  AcknowledgeUndeliveredResponseSchema,
  PullUndeliveredResponseSchema,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { CallContext } from "../../context.ts";
import { ERROR_CODE_HEADER } from "../../domain/error-codes.ts";
import { RETRY_AFTER_HEADER } from "../../domain/responses.ts";
import { errorCodeOfRpc } from "../management/error-code.ts";
import { ACKNOWLEDGE_PATH, PULL_PATH } from "../paths.ts";
import { readBody } from "../tools/request-body.ts";
import { upstreamResponse } from "../upstream-response.ts";

const ENDPOINT_ID = /^[1-9][0-9]{0,15}$/;
const TIMEOUT_MS = 20_000;

type Signed = Pick<SignedRequest, "endpointId" | "signature" | "body">;
type SignedCall<Desc extends DescMessage> = (
  request: Signed,
  options: CallOptions,
) => Promise<Message & { response?: MessageShape<Desc> | undefined }>;

/**
 * A customer's server pulls the events that it missed. Its requests are signed with the endpoint's secret and carry no
 * other credential; outbound-webhook verifies the signature.
 */
export function pullRoutes(context: CallContext, outboundWebhook: Transport) {
  const client = createClient(SignedPullService, outboundWebhook);
  return async (app: FastifyInstance): Promise<void> => {
    const route = <Desc extends DescMessage>(url: string, schema: Desc, call: SignedCall<Desc>) =>
      app.post(url, (request, reply) => pull(context, request, reply, schema, call));
    route(PULL_PATH, PullUndeliveredResponseSchema, (request, options) => client.pullSigned({ request }, options));
    route(ACKNOWLEDGE_PATH, AcknowledgeUndeliveredResponseSchema, (request, options) =>
      client.acknowledgeSigned({ request }, options),
    );
  };
}

async function pull<Desc extends DescMessage>(
  { log }: CallContext,
  request: FastifyRequest,
  reply: FastifyReply,
  schema: Desc,
  call: SignedCall<Desc>,
): Promise<FastifyReply> {
  const disconnected = new AbortController();
  const { signal } = disconnected;
  reply.raw.once("close", () => disconnected.abort());
  reply.headers({ "cache-control": "no-store", "content-type": "application/json; charset=utf-8" });
  try {
    const called = call(await signedRequest(request), { signal, timeoutMs: TIMEOUT_MS });
    const { response } = await upstreamResponse(called, { signal, log });
    if (response === undefined) throw new ConnectError("no response", Code.Internal);
    return reply.send(toJsonString(schema, response));
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    reply.header(ERROR_CODE_HEADER, errorCodeOfRpc(error));
    const retryAfter = error.metadata.get(RETRY_AFTER_HEADER);
    if (retryAfter !== null) reply.header(RETRY_AFTER_HEADER, retryAfter);
    return reply.code(codeToHttpStatus(error.code)).send(JSON.stringify(errorToJson(error, undefined)));
  }
}

async function signedRequest(request: FastifyRequest): Promise<Signed> {
  const { id } = request.params as { id: string };
  const { bytes, violation } = await readBody(request.raw);
  if (violation) throw new ConnectError(violation.message, Code.InvalidArgument);
  const signature = request.headers["x-service-signature"];
  return {
    // No endpoint has the id 0, so a malformed id gets the same response as an unknown one.
    endpointId: ENDPOINT_ID.test(id) ? BigInt(id) : 0n,
    signature: typeof signature === "string" ? signature : "",
    body: bytes,
  };
}
