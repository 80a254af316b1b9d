import { create } from "@bufbuild/protobuf";
import type { CallHandler } from "@toolgate/call-stream/call";
import {
  type VerifyRequest,
  type VerifyResponse,
  VerifyResponseSchema,
} from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";

/** A response of the usual size, without any work. */
export const verify: CallHandler<VerifyRequest, VerifyResponse> = async (request) =>
  create(VerifyResponseSchema, {
    key: {
      keyId: "key_01JZX5T0T4Q2",
      keyName: "Partner",
      workspaceId: "ws_01JZX5T0T4Q2",
      workspace: "acme",
      workspaceEpoch: 7n,
      admitted: true,
      limit: 60,
      remaining: 59,
      resetAt: 1_790_000_000n,
      toolListed: request.tool !== "",
    },
  });
