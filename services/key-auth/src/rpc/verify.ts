import { create } from "@bufbuild/protobuf";
import type { CallHandler } from "@toolgate/call-stream/call";
import {
  type VerifyRequest,
  type VerifyResponse,
  VerifyResponseSchema,
} from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { refusals } from "@toolgate/telemetry/instruments";
import type { Context } from "../context.ts";
import { isUsable } from "../verification/verifiable-keys.ts";

/** Tells the gateway and tool-runner to cache nothing for this call. */
const UNKNOWN_EPOCH = 0n;

/** [KEY-21] The response has no key when there is none, or its secret or the caller's address is not valid. */
export function verifyHandler({ keys, grantText, now }: Context): CallHandler<VerifyRequest, VerifyResponse> {
  return async ({ secretHash, tool, count, clientIp }) => {
    const call = await keys.call(secretHash, (key) => {
      const isValid = isUsable(key, clientIp, now());
      return { isValid, counts: count && isValid };
    });
    if (!call?.judgement.isValid) return create(VerifyResponseSchema);
    const { row: key, admitted, used, resetAt, epoch } = call;
    if (count && !admitted) refusals.add(1, { limiter: "calls" });
    const { keyId, keyName, workspaceId, workspace, workspaceLocked, limit, tools } = key;
    const toolListed = tool !== "" && tools.includes(tool);
    const mayCall = !workspaceLocked && (toolListed || tool === "");
    return create(VerifyResponseSchema, {
      key: {
        keyId,
        keyName,
        workspaceId,
        workspace,
        workspaceLocked,
        workspaceEpoch: epoch === undefined ? UNKNOWN_EPOCH : BigInt(epoch),
        admitted,
        limit,
        remaining: admitted ? Math.max(0, limit - used) : 0,
        resetAt: BigInt(resetAt),
        toolListed,
        tools: tool === "" ? tools : [],
        grant: mayCall ? await grantText({ workspaceId, workspace, keyId, keyName, tool }) : "",
      },
    });
  };
}
