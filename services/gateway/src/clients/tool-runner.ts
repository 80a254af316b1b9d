import { create } from "@bufbuild/protobuf";
import type { Call } from "@toolgate/call-stream/call";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import {
  KeyCallerSchema,
  type RunRequest,
  RunRequestSchema,
  type RunResponse,
} from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";

export type RunCall = Call<RunRequest, RunResponse>;

export interface ToolRun {
  tool: string;
  /** The request's body as received. */
  body: Uint8Array;
  ip: string;
  /** Empty: the call has none. */
  idempotencyKey: string;
}

/** Runs a tool for a verified key. */
export type RunTool = (key: KeyVerdict, call: ToolRun) => Promise<RunResponse>;

/** More than the longest time that a tool may ask for, so that the tool's own limit ends the run. */
const TIMEOUT_MS = 75_000;

export function createRunTool(run: RunCall): RunTool {
  return (key, { tool, body, ip, idempotencyKey }) => {
    const caller = create(KeyCallerSchema, {
      keyId: key.keyId,
      keyName: key.keyName,
      ip,
      toolListed: key.toolListed,
    });
    // Postgres text holds no NUL, and no tool's name either of the two.
    const request = create(RunRequestSchema, {
      workspaceId: key.workspaceId,
      workspace: key.workspace,
      workspaceEpoch: key.workspaceEpoch,
      tool: tool.replaceAll("\u0000", "\ufffd"),
      body,
      caller: { case: "key", value: caller },
      idempotencyKey,
    });
    return run(request, { timeoutMs: TIMEOUT_MS });
  };
}
