import { type DescMessage, type MessageShape, toJsonString } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJson } from "@connectrpc/connect/protocol-connect";
import { SignedPullService, type SignedRequest } from "@toolgate/gen/toolgate/outbound_webhook/v1/signed_pull_pb";
import {
  AcknowledgeUndeliveredResponseSchema,
  PullUndeliveredResponseSchema,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { onlyMethod } from "./only-method.ts";
import { readBody } from "./request-body.ts";
import type { ToolCallDependencies } from "./tool-call.ts";
import { upstreamAnswer } from "./upstream-answer.ts";

const PULL_PATH = /^\/api\/v1\/webhooks\/endpoints\/[^/]+\/(pull|acknowledge)$/;
const ENDPOINT_ID = /^[1-9][0-9]{0,15}$/;
const TIMEOUT_MS = 20_000;

/** Whether a path is one of these routes. */
export function isWebhookPullPath(path: string): boolean {
  return PULL_PATH.test(path);
}

/** A receiver's server fetches what it missed, with its endpoint's secret alone; the service verifies the signature. */
export function webhookPullRoutes({ calls, upstream }: { calls: ToolCallDependencies; upstream: Transport }) {
  const client = createClient(SignedPullService, upstream);
  return async (app: FastifyInstance): Promise<void> => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request, _payload, done) => done(null));
    const route = <Desc extends DescMessage>(name: string, schema: Desc, call: Call<Desc>) =>
      onlyMethod(app, calls, {
        method: "POST",
        url: `/api/v1/webhooks/endpoints/:id/${name}`,
        handler: (request, reply) => answer(request, reply, { schema, call, log: calls.log }),
      });
    route("pull", PullUndeliveredResponseSchema, async (request, options) => {
      const { response } = await client.pullSigned({ request }, options);
      return response;
    });
    route("acknowledge", AcknowledgeUndeliveredResponseSchema, async (request, options) => {
      const { response } = await client.acknowledgeSigned({ request }, options);
      return response;
    });
  };
}

type Signed = Pick<SignedRequest, "endpointId" | "signature" | "body">;
type Call<Desc extends DescMessage> = (
  request: Signed,
  options: { signal: AbortSignal; timeoutMs: number },
) => Promise<MessageShape<Desc> | undefined>;

async function answer<Desc extends DescMessage>(
  request: FastifyRequest,
  reply: FastifyReply,
  { schema, call, log }: { schema: Desc; call: Call<Desc>; log: ToolCallDependencies["log"] },
): Promise<FastifyReply> {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  reply.headers({ "cache-control": "no-store", "content-type": "application/json; charset=utf-8" });
  try {
    const { signal } = gone;
    const signed = await signedRequest(request);
    const called = call(signed, { signal, timeoutMs: TIMEOUT_MS });
    const response = await upstreamAnswer(called.then(required), { signal, log });
    return reply.send(toJsonString(schema, response));
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    return reply.code(codeToHttpStatus(error.code)).send(JSON.stringify(errorToJson(error, undefined)));
  }
}

function required<T>(response: T | undefined): T {
  if (response === undefined) throw new ConnectError("no answer", Code.Internal);
  return response;
}

async function signedRequest(request: FastifyRequest): Promise<Signed> {
  const { id } = request.params as { id: string };
  const body = await readBody(request.raw);
  if (!body.ok) throw new ConnectError(body.violation.message, Code.InvalidArgument);
  const signature = request.headers["x-service-signature"];
  return {
    // No endpoint has the id 0: one answer for whatever there is not.
    endpointId: ENDPOINT_ID.test(id) ? BigInt(id) : 0n,
    signature: typeof signature === "string" ? signature : "",
    body: body.bytes,
  };
}
