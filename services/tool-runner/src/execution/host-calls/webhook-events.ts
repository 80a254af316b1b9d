import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { WorkspaceEventSchema } from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import { isJsonObject, ownValue } from "@toolgate/rules/json-object";
import { currentRequestId } from "@toolgate/telemetry/request";
import { currentTrace, inSpan, SpanKind } from "@toolgate/telemetry/trace";
import { completedData, customEventViolation } from "../../domain/calls/webhook-event-data.ts";
import { ToolError } from "../errors.ts";
import type { FinishedRun, RunScope } from "../run.ts";
import type { HostCallContext, HostDependencies } from "./host-call.ts";
import { skipsWrite } from "./skip-write.ts";

const EVENT_ID_BYTES = 16;

type EventDependencies = Pick<HostDependencies, "outbox" | "now">;

/**
 * [EVT-8] [EVT-24] Reports a run that was started from outside, of a tool with webhook_event. Resolves once the event can
 * no longer be lost.
 */
export async function reportCompleted(deps: EventDependencies, run: FinishedRun): Promise<void> {
  const result = run.result.value();
  const error = run.error === "" ? reportedFailure(result) : run.error;
  const data = completedData({
    tool: run.tool.name,
    error,
    entryType: run.scope.entryType,
    executionId: run.id,
    durationMs: run.durationMs,
    args: run.args.value(),
    result,
  });
  await addEvent(deps, "tool.completed", data, run.scope);
}

/** [EVT-54] [EVT-55] Resolves once the event can no longer be lost. Rejects with a ToolError that the tool sees. */
export async function emitCustomEvent(
  deps: EventDependencies,
  [name, data]: unknown[],
  context: HostCallContext,
): Promise<void> {
  const { scope, entry } = context;
  if (typeof name === "string") entry.target = name;
  const violation = customEventViolation(name, data);
  if (violation) throw new ToolError("INVALID_EVENT", violation);
  if (scope.eventsLeft <= 0) throw new ToolError("TOO_MANY_EVENTS", "this call has emitted as many events as it may");
  scope.eventsLeft -= 1;
  const type = `custom.${name}`;
  // [EVT-59]
  if (skipsWrite(context, "emitWebhook", { type, data })) return;
  await addEvent(deps, type, JSON.stringify(data), scope);
}

function addEvent({ outbox, now }: EventDependencies, type: string, dataJson: string, scope: RunScope): Promise<void> {
  const add = () =>
    outbox.add(
      create(WorkspaceEventSchema, {
        eventId: `evt_${randomBytes(EVENT_ID_BYTES).toString("hex")}`,
        workspaceId: scope.workspaceId,
        workspace: scope.workspace,
        type,
        created: BigInt(Math.floor(now() / 1000)),
        dataJson,
        hop: scope.hop,
        requestId: currentRequestId(),
        ...currentTrace(),
      }),
    );
  return inSpan("outbox", add, { kind: SpanKind.PRODUCER });
}

/** A result with success false is a failure too, in the tool's own words. */
function reportedFailure(result: unknown): string | null {
  if (!isJsonObject(result) || ownValue(result, "success") !== false) return null;
  const error = ownValue(result, "error");
  return typeof error === "string" ? error : "the tool reports success false";
}
