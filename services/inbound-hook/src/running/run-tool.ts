import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Call, neverSent } from "@toolgate/call-stream/call";
import {
  type InvalidArguments,
  type RunRequest,
  RunRequestSchema,
  type RunResponse,
} from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { loggedError, loggedJson } from "../domain/log/logged-json.ts";
import { failed, type RunEnd, type RunTarget, type TargetInput } from "./run-target.ts";

interface ToolDependencies {
  run: Call<RunRequest, RunResponse>;
  redact: (value: unknown) => unknown;
  onError: (error: unknown) => void;
}

/** Longer than the longest timeout of a tool, so that the tool's own timeout ends the run. */
const TIMEOUT_MS = 75_000;

/** [IN-58] Runs tools. tool-runner checks the release, drops undeclared arguments, and validates the others. */
export function createRunTool({ run, redact, onError }: ToolDependencies): RunTarget {
  return async (input) => {
    let response: RunResponse;
    try {
      response = await run(requestFor(input), { timeoutMs: TIMEOUT_MS });
    } catch (error) {
      onError(error);
      return endOfFailedCall(error);
    }
    const { outcome, durationMs, executionId } = response;
    switch (outcome.case) {
      case "resultJson": {
        const result = loggedJson(Buffer.from(outcome.value).toString(), redact);
        return { outcome: "succeeded", result, durationMs, executionId };
      }
      case "unavailable":
        // [IN-59]
        return failed("not released");
      case "invalidArguments":
        return failed(violationsText(outcome.value));
      case "toolFailed":
        return failed(loggedError(outcome.value.error), { durationMs, executionId });
      default:
        return failed("the tool could not be run");
    }
  };
}

function requestFor({ deliveryId, createdAt, workspaceId, run, argsJson, isForm }: TargetInput): RunRequest {
  const { hook } = run;
  return create(RunRequestSchema, {
    workspaceId,
    workspace: hook.workspace,
    tool: hook.target,
    body: Buffer.from(`{"args":${argsJson}}`),
    caller: {
      case: "hook",
      // [IN-67]
      value: {
        chatId: run.chatId,
        hookId: String(hook.id),
        hookName: hook.name,
        deliveryId,
        externalId: run.externalId ?? "",
        receivedAt: createdAt.toISOString(),
        fromForm: isForm,
      },
    },
  });
}

function violationsText({ violations }: InvalidArguments): string {
  return loggedError(violations.map(({ field, message }) => `${field || "the arguments"}: ${message}`).join("; "));
}

/** Only a call that certainly did not reach the tool may be repeated. */
function endOfFailedCall(error: unknown): RunEnd {
  const { code, rawMessage } = ConnectError.from(error);
  if (neverSent(error)) return { outcome: "not-started", reason: "the tool could not be started" };
  if (code === Code.Aborted) return { outcome: "not-started", reason: rawMessage };
  if (code === Code.DeadlineExceeded) return failed("the tool did not end in time");
  return failed("the platform failed during the run: what the tool did is not known");
}
