import { create } from "@bufbuild/protobuf";
import type { CallHandler } from "@toolgate/call-stream/call";
import {
  KeyVerdictSchema,
  type VerifyRequest,
  type VerifyResponse,
  VerifyResponseSchema,
} from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { refusals } from "@toolgate/telemetry/instruments";
import type { Grants } from "../verification/grants.ts";
import type { Verdict, Verifier } from "../verification/verifier.ts";

export type VerifyHandler = CallHandler<VerifyRequest, VerifyResponse>;

export function verifyHandler({ verifier, grants }: { verifier: Verifier; grants: Grants }): VerifyHandler {
  return async (request) => {
    const { secretHash, count, clientIp } = request;
    const verdict = await verifier.verify(secretHash, { count, clientIp });
    if (!verdict) return create(VerifyResponseSchema);
    if (count && !verdict.admitted) refusals.add(1, { limiter: "calls" });
    const { tool } = request;
    const toolListed = tool !== "" && verdict.tools.includes(tool);
    const mayCall = !verdict.workspaceLocked && (toolListed || tool === "");
    const grant = mayCall ? await grants.textOf({ ...verdict, tool }) : "";
    return create(VerifyResponseSchema, { key: keyVerdict(verdict, { tool, toolListed, grant }) });
  };
}

function keyVerdict(
  verdict: NonNullable<Verdict>,
  { tool, toolListed, grant }: { tool: string; toolListed: boolean; grant: string },
) {
  return create(KeyVerdictSchema, {
    keyId: verdict.keyId,
    keyName: verdict.keyName,
    workspaceId: verdict.workspaceId,
    workspace: verdict.workspace,
    workspaceLocked: verdict.workspaceLocked,
    workspaceEpoch: BigInt(verdict.epoch),
    admitted: verdict.admitted,
    limit: verdict.limit,
    remaining: verdict.admitted ? Math.max(0, verdict.limit - verdict.used) : 0,
    resetAt: BigInt(verdict.resetAt),
    toolListed,
    tools: tool === "" ? verdict.tools : [],
    grant,
  });
}
