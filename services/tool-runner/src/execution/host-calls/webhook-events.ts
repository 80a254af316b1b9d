import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { Outbox } from "@toolgate/event-bus/outbox";
import { WorkspaceEventSchema } from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import { isJsonObject, ownValue } from "@toolgate/rules/json-object";
import { currentRequestId } from "@toolgate/telemetry/request";
import { currentTrace, inSpan, SpanKind } from "@toolgate/telemetry/trace";
import { completedData, customEventViolation } from "../../domain/calls/webhook-event-data.ts";
import { ToolError } from "../errors.ts";
import type { FinishedRun, RunScope } from "../run.ts";
import type { HostCallContext } from "./host-call.ts";
import { skipsWrite } from "./skip-write.ts";

/** Events that runs cause. Each method resolves once the event can no longer be lost. */
export interface WebhookEvents {
  /** [EVT-8] [EVT-24] For a run that was started from outside, of a tool with webhook_event. */
  completed(run: FinishedRun): Promise<void>;
  /** [EVT-54] [EVT-55] Rejects with a ToolError that the tool sees. */
  custom(name: unknown, data: unknown, context: HostCallContext): Promise<void>;
}

const EVENT_ID_BYTES = 16;

export function createWebhookEvents(outbox: Outbox, now: () => number): WebhookEvents {
  const add = (type: string, dataJson: string, scope: RunScope) =>
    inSpan("outbox", () => outbox.add(eventOf(type, dataJson, scope)), { kind: SpanKind.PRODUCER });
  const eventOf = (type: string, dataJson: string, scope: RunScope) =>
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
    });
  return {
    async completed({ id, tool, scope, durationMs, args, result: redactedResult, error: runError }) {
      const result = redactedResult.value();
      const error = runError === "" ? reportedFailure(result) : runError;
      const data = completedData({
        tool: tool.name,
        success: error === null,
        error,
        entryType: scope.entryType,
        executionId: id,
        durationMs,
        args: args.value(),
        result,
      });
      await add("tool.completed", data, scope);
    },
    async custom(name, data, context) {
      const { scope, entry } = context;
      if (typeof name === "string") entry.target = name;
      const violation = customEventViolation(name, data);
      if (violation) throw new ToolError("INVALID_EVENT", violation);
      if (scope.eventsLeft <= 0) {
        throw new ToolError("TOO_MANY_EVENTS", "this call has emitted as many events as it may");
      }
      scope.eventsLeft -= 1;
      const type = `custom.${name}`;
      // [EVT-59]
      if (skipsWrite(context, "emitWebhook", { type, data })) return;
      await add(type, JSON.stringify(data), scope);
    },
  };
}

/** A result with success false is a failure too, in the tool's own words. */
function reportedFailure(result: unknown): string | null {
  if (!isJsonObject(result) || ownValue(result, "success") !== false) return null;
  const error = ownValue(result, "error");
  return typeof error === "string" ? error : "the tool reports success false";
}
