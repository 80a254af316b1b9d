import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallHandler } from "@toolgate/call-stream/call";
import {
  type KeyCaller,
  type RunRequest,
  type RunResponse,
  RunResponseSchema,
} from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import type { ServiceName } from "@toolgate/service-registry/services";
import type { Context } from "../context.ts";
import type { Caller } from "../execution/caller.ts";
import { NotJson, NotStarted, Overloaded } from "../execution/errors.ts";
import { runCall } from "../execution/run-call.ts";

/** The service that starts runs for each kind of caller. */
const STARTED_BY: Readonly<Record<Caller["case"], ServiceName>> = {
  key: "gateway",
  publicApi: "gateway",
  chat: "chat",
  scheduledTask: "chat",
  hook: "inbound-hook",
};

export type RunHandler = CallHandler<RunRequest, RunResponse>;

/** `onNotStarted` is called with the reason why a run did not start, if the platform is at fault. */
export function runHandler(context: Context, onNotStarted: (error: unknown) => void): RunHandler {
  return async (request, call) => {
    const { caller } = request;
    if (caller.case === undefined) throw new ConnectError("caller: missing", Code.InvalidArgument);
    if (call.caller !== STARTED_BY[caller.case]) {
      throw new ConnectError(`${call.caller} starts no runs of the kind ${caller.case}`, Code.PermissionDenied);
    }
    if (caller.case === "key") await assertGranted(context, request, caller.value);
    try {
      const response = create(RunResponseSchema, await runCall(context, request, caller));
      response.usageRecorded = isUsageRecorded(caller, response);
      return response;
    } catch (error) {
      if (error instanceof NotStarted && !isOverload(error, caller)) onNotStarted(error);
      throw failureFor(caller, error);
    }
  };
}

/**
 * Throws unless key-auth has granted this key this tool, with the names that the run will use: the gateway's word is not
 * enough.
 */
async function assertGranted({ grants }: Context, request: RunRequest, key: KeyCaller): Promise<void> {
  // Ends as unavailable, whatever is sent with it.
  if (!key.toolListed) return;
  const granted = grants.known(key.grant) ?? (await grants.read(key.grant));
  const isForThis =
    granted.workspaceId === request.workspaceId &&
    granted.keyId === key.keyId &&
    granted.tool === request.tool &&
    granted.workspace === request.workspace &&
    granted.keyName === key.keyName;
  if (!isForThis) throw new ConnectError("the grant is for another call", Code.PermissionDenied);
}

/** A hook tries again also what was refused because too many others are under way. */
function isOverload(error: unknown, caller: Caller): error is Overloaded {
  return error instanceof Overloaded && caller.case !== "hook";
}

/** A ConnectError where the caller needs to know more than that the platform failed: it gets its code. */
function failureFor(caller: Caller, error: unknown): unknown {
  if (isOverload(error, caller)) return new ConnectError(error.message, Code.ResourceExhausted);
  if (error instanceof NotStarted) return new ConnectError("the tool could not be started", Code.Aborted);
  if (!(error instanceof NotJson)) return error;
  return new ConnectError("the tool returned something that is not JSON", Code.DataLoss);
}

/** A run that ended, and was this call's own, has left its usage record together with its own. */
function isUsageRecorded(caller: Caller, { outcome, replayed }: RunResponse): boolean {
  const ran = outcome.case === "resultJson" || outcome.case === "toolFailed";
  return ran && !replayed && caller.case === "key" && caller.value.usage !== undefined;
}
