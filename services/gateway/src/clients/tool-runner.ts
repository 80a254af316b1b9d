import { create } from "@bufbuild/protobuf";
import type { Call } from "@toolgate/call-stream/call";
import type { KeyVerdict } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import {
  KeyCallerSchema,
  type RunRequest,
  RunRequestSchema,
  type RunResponse,
  ViolationSchema,
} from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import type { Violation } from "../domain/responses.ts";

export interface ToolRun {
  tool: string;
  /** The request's body as received; not sent when there is a violation. */
  body: Uint8Array;
  /** Why the request cannot be used. It still goes to tool-runner, whose release check comes first. */
  bodyFault: Violation | undefined;
  ip: string;
  /** Empty if the call has none. */
  idempotencyKey: string;
}

/** Runs a tool for a verified key. */
export type RunTool = (key: KeyVerdict, call: ToolRun) => Promise<RunResponse>;

/** Longer than the longest timeout of a tool, so that the tool's own timeout ends the run. */
const TIMEOUT_MS = 75_000;
/** Not JSON: a previous version of tool-runner ignores the violation, and would run the tool with an empty or valid body. */
const UNUSABLE_BODY = Buffer.from("\0");

export function createRunTool(run: Call<RunRequest, RunResponse>): RunTool {
  return (key, { tool, body, bodyFault, ip, idempotencyKey }) => {
    const caller = create(KeyCallerSchema, {
      keyId: key.keyId,
      keyName: key.keyName,
      ip,
      toolListed: key.toolListed,
    });
    // Postgres cannot store NUL. No tool's name contains either character.
    const request = create(RunRequestSchema, {
      workspaceId: key.workspaceId,
      workspace: key.workspace,
      workspaceEpoch: key.workspaceEpoch,
      tool: tool.replaceAll("\u0000", "\ufffd"),
      body: bodyFault ? UNUSABLE_BODY : body,
      ...(bodyFault && { bodyFault: create(ViolationSchema, bodyFault) }),
      caller: { case: "key", value: caller },
      idempotencyKey: bodyFault ? "" : idempotencyKey,
    });
    return run(request, { timeoutMs: TIMEOUT_MS });
  };
}
