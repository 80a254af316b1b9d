import { create } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { VerifyRequest, VerifyResponse } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { VerifyRequestSchema, VerifyResponseSchema, VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { CallStream } from "../src/client.ts";
import { createCallStream } from "../src/client.ts";
import type { AddressResolver } from "../src/stream-pool.ts";
import { streamTransport } from "../src/transport.ts";

type VerifyClientOptions = Partial<
  Pick<Parameters<typeof createCallStream>[0], "lookEveryMs" | "maxInFlight" | "maxWaitMs" | "onError">
>;

export function verifyClient(
  addresses: AddressResolver,
  options: VerifyClientOptions = {},
): CallStream<VerifyRequest, VerifyResponse> {
  return createCallStream({
    method: VerifyService.method.verify,
    streamMethod: VerifyService.method.verifyCalls,
    addresses,
    transportFor: (address) => streamTransport(address),
    lookEveryMs: 50,
    onError: () => undefined,
    ...options,
  });
}

/** A request that is identified by its tool name. */
export function ask(tool: string, secretHash = new Uint8Array(0)): VerifyRequest {
  return create(VerifyRequestSchema, { secretHash, tool });
}

/** The response to `ask`, which names its request. */
export function responseTo(tool: string, workspace = ""): VerifyResponse {
  return create(VerifyResponseSchema, { key: { keyName: tool, workspace } });
}

/** The failure of a call that has to fail. */
export async function failureOf(call: Promise<unknown>): Promise<ConnectError> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof ConnectError)) throw new Error(`expected a ConnectError, got ${String(outcome)}`);
  return outcome;
}
