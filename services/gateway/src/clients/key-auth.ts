import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { hashSecret } from "@toolgate/api-key/secret";
import type { Call } from "@toolgate/call-stream/call";
import {
  type KeyVerdict,
  type VerifyRequest,
  VerifyRequestSchema,
  type VerifyResponse,
} from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";

export type VerifyCall = Call<VerifyRequest, VerifyResponse>;

export interface KeyQuestion {
  /** Empty: no tool is asked for, and the verdict lists those of the key. */
  tool: string;
  count: boolean;
  clientIp: string;
}

/** Undefined: no such key, revoked, expired, or not to be used from that address. */
export type VerifyKey = (apiKey: string, question: KeyQuestion) => Promise<KeyVerdict | undefined>;

const TIMEOUT_MS = 5_000;

export function createVerifyKey(verify: VerifyCall): VerifyKey {
  return async (apiKey, question) => {
    const request = create(VerifyRequestSchema, { secretHash: hashSecret(apiKey), ...question });
    const ask = () => verify(request, { timeoutMs: TIMEOUT_MS });
    const response = await ask().catch((error: unknown) => {
      if (!isLost(error)) throw error;
      return ask();
    });
    return response.key;
  };
}

/**
 * The replica that was asked is gone, and another one can say the same. At worst the call is counted twice: the limit is
 * not exceeded by that.
 */
function isLost(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.Unavailable;
}
