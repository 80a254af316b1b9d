import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { hashSecret } from "@toolgate/api-key/secret";
import type { Call } from "@toolgate/call-stream/call";
import { Role } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import {
  type KeyVerdict,
  type VerifyRequest,
  VerifyRequestSchema,
  type VerifyResponse,
} from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import type { MemberRole } from "@toolgate/service-host/principal";

interface KeyQuestion {
  /** Empty: no tool is called, and the verdict lists the tools of the key. */
  tool: string;
  count: boolean;
  clientIp: string;
}

/** Undefined: no such key, revoked, expired, or not allowed from that address. */
export type VerifyKey = (apiKey: string, question: KeyQuestion) => Promise<KeyVerdict | undefined>;

const TIMEOUT_MS = 5_000;

const MEMBER_ROLES: Partial<Record<Role, MemberRole>> = {
  [Role.MEMBER]: "member",
  [Role.MANAGER]: "manager",
  [Role.ADMIN]: "admin",
};

/** Undefined for a role that this gateway does not know. */
export function memberRoleOf(role: Role): MemberRole | undefined {
  return MEMBER_ROLES[role];
}

export function createVerifyKey(verify: Call<VerifyRequest, VerifyResponse>): VerifyKey {
  return async (apiKey, question) => {
    const request = create(VerifyRequestSchema, { secretHash: hashSecret(apiKey), ...question });
    const verifyOnce = () => verify(request, { timeoutMs: TIMEOUT_MS });
    const response = await verifyOnce().catch((error: unknown) => {
      // The replica is down, and another one gives the same verdict. At worst the call is counted twice.
      if (error instanceof ConnectError && error.code === Code.Unavailable) return verifyOnce();
      throw error;
    });
    return response.key;
  };
}
