import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { Outbox } from "@toolgate/event-bus/outbox";
import { WorkspaceEventSchema } from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import { completedData, customEventViolation } from "../domain/calls/webhook-event-data.ts";
import type { FinishedRun } from "./record.ts";
import { type RunScope, ToolError } from "./run-scope.ts";
import { withheld } from "./withheld.ts";

/** Events that runs cause. Each method resolves once the event can no longer be lost. */
export interface WebhookEvents {
  /** [EVT-8] [EVT-24] For a run from outside of a tool that carries webhook_event. */
  completed(run: FinishedRun, scope: RunScope): Promise<void>;
  /** [EVT-54] [EVT-55] Rejects with a ToolError that the tool sees. */
  custom(tool: string, name: unknown, data: unknown, scope: RunScope): Promise<void>;
}

const EVENT_ID_BYTES = 16;

export function createWebhookEvents(outbox: Outbox, now: () => number): WebhookEvents {
  const add = (type: string, dataJson: string, scope: RunScope) =>
    outbox.add(
      create(WorkspaceEventSchema, {
        eventId: `evt_${randomBytes(EVENT_ID_BYTES).toString("hex")}`,
        workspaceId: scope.workspaceId,
        workspace: scope.workspace,
        type,
        created: BigInt(Math.floor(now() / 1000)),
        dataJson,
        hop: scope.hop,
      }),
    );
  return {
    async completed(run, scope) {
      const { tool, error, id, durationMs } = run;
      const result = run.result.value();
      const refused = refusalOf(result);
      await add(
        "tool.completed",
        completedData({
          tool: tool.name,
          success: error === "" && refused === undefined,
          error: error === "" ? (refused ?? null) : error,
          entryType: scope.entryType,
          executionId: id,
          durationMs,
          args: run.args.value(),
          result,
        }),
        scope,
      );
    },
    async custom(tool, name, data, scope) {
      const fault = customEventViolation(name, data);
      if (fault) throw new ToolError("INVALID_EVENT", fault);
      if (scope.eventsLeft <= 0)
        throw new ToolError("TOO_MANY_EVENTS", "this call has emitted all the events that it may");
      scope.eventsLeft -= 1;
      // [EVT-59]
      if (withheld(scope, { tool, name: "emitWebhook", detail: { type: `custom.${name}`, data } })) return;
      await add(`custom.${name}`, JSON.stringify(data), scope);
    },
  };
}

/** A result that says success false is a failure of the business, with the tool's own words. */
function refusalOf(result: unknown): string | undefined {
  if (typeof result !== "object" || result === null || !("success" in result) || result.success !== false)
    return undefined;
  return "error" in result && typeof result.error === "string" ? result.error : "the tool reports success false";
}
