import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type KeyVerdict,
  type VerifyRequest,
  VerifyRequestSchema,
  type VerifyResponse,
} from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import {
  type CallUsageSchema,
  KeyCallerSchema,
  type RunRequest,
  RunRequestSchema,
  type RunResponse,
  ViolationSchema,
} from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { hashSecret } from "@toolgate/rules/api-key-secret";
import type { Violation } from "../domain/responses.ts";

/** A hot call as `peers.call` makes it. */
type HotCall<I, O> = (request: I) => Promise<O>;

interface VerifyOptions {
  /** Empty when no tool is called; then the verdict lists the tools of the key. */
  tool: string;
  count: boolean;
  clientIp: string;
}

/** Undefined: no such key, revoked, expired, or not allowed from that address. */
export type VerifyKey = (secret: string, options: VerifyOptions) => Promise<KeyVerdict | undefined>;

export function createVerifyKey(verify: HotCall<VerifyRequest, VerifyResponse>): VerifyKey {
  return async (secret, options) => {
    const request = create(VerifyRequestSchema, { secretHash: hashSecret(secret), ...options });
    const response = await verify(request).catch((error: unknown) => {
      // The replica is down; another one gives the same verdict. At worst the call is counted twice.
      if (error instanceof ConnectError && error.code === Code.Unavailable) return verify(request);
      throw error;
    });
    return response.key;
  };
}

export interface ToolRun {
  tool: string;
  /** The request's body as received; not sent when there is a violation. */
  body: Uint8Array;
  /** Why the request cannot be used. It still goes to tool-runner, whose release check comes first. */
  bodyFault: Violation | undefined;
  ip: string;
  /** Empty if the call has none. */
  idempotencyKey: string;
  /** For the usage record, which tool-runner publishes if the tool runs. */
  usage: MessageInitShape<typeof CallUsageSchema>;
}

/** Runs a tool for a verified key. Rejects with `ResourceExhausted` when tool-runner did not start it. */
export type RunTool = (verdict: KeyVerdict, call: ToolRun) => Promise<RunResponse>;

export function createRunTool(run: HotCall<RunRequest, RunResponse>): RunTool {
  return async (verdict, { tool, body, bodyFault, ip, idempotencyKey, usage }) => {
    const caller = create(KeyCallerSchema, {
      keyId: verdict.keyId,
      keyName: verdict.keyName,
      ip,
      toolListed: verdict.toolListed,
      grant: verdict.grant,
      usage,
    });
    // Postgres cannot store NUL. U+FFFD is safe: no tool name contains it.
    const request = create(RunRequestSchema, {
      workspaceId: verdict.workspaceId,
      workspace: verdict.workspace,
      workspaceEpoch: verdict.workspaceEpoch,
      tool: tool.replaceAll("\u0000", "\ufffd"),
      ...(bodyFault ? { bodyFault: create(ViolationSchema, bodyFault) } : { body }),
      caller: { case: "key", value: caller },
      idempotencyKey: bodyFault ? "" : idempotencyKey,
    });
    return await run(request);
  };
}
