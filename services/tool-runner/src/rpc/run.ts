import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallHandler } from "@toolgate/call-stream/call";
import {
  type KeyCaller,
  type RunRequest,
  type RunResponse,
  RunResponseSchema,
  type TestCaller,
} from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import type { ServiceName } from "@toolgate/service-registry/services";
import type { Context } from "../context.ts";
import type { Caller } from "../execution/caller.ts";
import { NotJson, NotStarted, Overloaded } from "../execution/errors.ts";
import { type CallOutcome, type RunCallDependencies, runCall } from "../execution/run-call.ts";

/** `grants` and `principals` read what key-auth has signed, so that the gateway's word is not enough. */
export interface RunHandlerDependencies extends RunCallDependencies, Pick<Context, "grants" | "principals"> {
  /** Called with the reason why a run did not start, if the platform is at fault. */
  onNotStarted: (error: unknown) => void;
}

/** The service that starts runs for each kind of caller. */
const STARTED_BY: Readonly<Record<Caller["case"], ServiceName>> = {
  key: "gateway",
  publicApi: "gateway",
  test: "gateway",
  chat: "chat",
  scheduledTask: "chat",
  hook: "inbound-hook",
};

export type RunHandler = CallHandler<RunRequest, RunResponse>;

const MAX_IDEMPOTENCY_KEY_CHARACTERS = 255;
const MAX_CALLER_TEXT_CHARACTERS = 500;

export function runHandler(deps: RunHandlerDependencies): RunHandler {
  return async (request, context) => {
    const { caller } = request;
    if (caller.case === undefined) throw new ConnectError("caller: missing", Code.InvalidArgument);
    if (context.caller !== STARTED_BY[caller.case]) {
      throw new ConnectError(`${context.caller} starts no runs of the kind ${caller.case}`, Code.PermissionDenied);
    }
    if (caller.case === "key") await assertGranted(deps, request, caller.value);
    if (caller.case === "test") await assertTester(deps, request, caller.value);
    if (caller.case !== "key") rejectMalformed(caller, request.idempotencyKey);
    if (request.idempotencyKey.length > MAX_IDEMPOTENCY_KEY_CHARACTERS || request.idempotencyKey.includes("\0")) {
      throw new ConnectError("idempotency_key: 1 to 255 characters", Code.InvalidArgument);
    }
    try {
      const outcome = await runCall(deps, request, caller, () => context.signal);
      const usageRecorded = isUsageRecorded(caller, outcome);
      return create(RunResponseSchema, { ...fieldsOf(outcome, caller), usageRecorded });
    } catch (error) {
      throw failureFor(caller, error, deps);
    }
  };
}

/** Throws unless key-auth has granted this key this tool, with the names that the run will use. */
async function assertGranted({ grants }: RunHandlerDependencies, request: RunRequest, key: KeyCaller): Promise<void> {
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

/** Throws unless an administrator of the workspace, whom the run will be ascribed to, has just asked for the test. */
async function assertTester(
  { principals }: RunHandlerDependencies,
  { workspaceId, workspace }: RunRequest,
  { callerId, principal }: TestCaller,
): Promise<void> {
  const user = await principals.read(principal);
  const mayTest =
    user.workspaceId === workspaceId &&
    user.workspace === workspace &&
    user.userId === callerId &&
    user.role === "admin";
  if (!mayTest) throw new ConnectError("the principal is for another test", Code.PermissionDenied);
}

/** A ConnectError where the caller needs to know more than that the platform failed: it gets its code. */
function failureFor(caller: Caller, error: unknown, { onNotStarted }: RunHandlerDependencies): unknown {
  // A hook tries both kinds again.
  if (error instanceof Overloaded && caller.case !== "hook") {
    return new ConnectError(error.message, Code.ResourceExhausted);
  }
  if (error instanceof NotStarted) {
    onNotStarted(error);
    return new ConnectError("the tool could not be started", Code.Aborted);
  }
  if (!(error instanceof NotJson)) return error;
  return new ConnectError("the tool returned something that is not JSON", Code.DataLoss);
}

/** Rejects requests that only a bug in the calling service can cause. */
function rejectMalformed({ value }: Exclude<Caller, { case: "key" }>, idempotencyKey: string): void {
  const reject = (violation: string) => {
    throw new ConnectError(violation, Code.InvalidArgument);
  };
  if (idempotencyKey !== "") reject("idempotency_key: only for calls by key");
  if ("hop" in value && value.hop !== 1 && value.hop !== 2) reject("caller.hop: must be 1 or 2");
  // A principal is longer, and has been verified.
  const { $typeName: _, principal: __, ...members } = { principal: "", ...value };
  for (const [name, member] of Object.entries(members)) {
    if (typeof member === "string" && (member.length > MAX_CALLER_TEXT_CHARACTERS || member.includes("\0"))) {
      reject(`caller.${name}: at most ${MAX_CALLER_TEXT_CHARACTERS} characters, without NUL`);
    }
  }
}

/** A run that ended, and was this call's own, has left its usage record together with its own. */
function isUsageRecorded(caller: Caller, outcome: CallOutcome): boolean {
  const ran = outcome.kind === "ok" || outcome.kind === "failed";
  return ran && !outcome.replayed && caller.case === "key" && caller.value.usage !== undefined;
}

function fieldsOf(outcome: CallOutcome, caller: Caller): MessageInitShape<typeof RunResponseSchema> {
  switch (outcome.kind) {
    case "unavailable":
      return { outcome: { case: "unavailable", value: {} } };
    case "invalid":
      return { outcome: { case: "invalidArguments", value: { violations: outcome.violations } } };
    case "mismatch":
      return { outcome: { case: "idempotencyMismatch", value: {} } };
    case "in-progress":
      return { outcome: { case: "idempotencyInProgress", value: {} } };
    case "unknown":
      return { outcome: { case: "outcomeUnknown", value: {} }, replayed: true };
    default: {
      const { executionId, durationMs, replayed, suppressed = [] } = outcome;
      const ran = { executionId, durationMs, replayed, suppressed };
      if (outcome.kind === "failed") {
        // Only a hook's own workspace gets to see why.
        const error = caller.case === "hook" ? outcome.error : "";
        return { ...ran, outcome: { case: "toolFailed", value: { error } } };
      }
      return { ...ran, outcome: { case: "resultJson", value: Buffer.from(outcome.resultJson) } };
    }
  }
}
