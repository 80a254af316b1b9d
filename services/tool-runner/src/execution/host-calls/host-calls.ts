import { isDeeperThan } from "@toolgate/rules/json-object";
import type { SafeFetch } from "@toolgate/safe-fetch/fetch";
import type { HostCall, HostResult } from "@toolgate/sandbox/request";
import type { SendMail } from "@toolgate/service-host/mailer";
import { MAX_ARGUMENT_LEVELS } from "../../domain/calls/call-body.ts";
import type { HostFunctionName } from "../../domain/host-functions.ts";
import type { DataSources } from "../data-sources/data-sources.ts";
import { NotJson, ToolError } from "../errors.ts";
import { resultJson } from "../result-json.ts";
import { addDetail, type Run, remainingMs } from "../run.ts";
import type { Definitions } from "../workspace/definitions.ts";
import type { Sheets } from "../workspace/sheets.ts";
import type { WorkspaceValues } from "../workspace/workspace-values.ts";
import { object, text } from "./arguments.ts";
import { fetchForTool } from "./fetch.ts";
import { type HostCallContext, logged } from "./host-call.ts";
import { sendMailForTool } from "./mail.ts";
import { runFreeSql, runPreparedQuery } from "./queries.ts";
import { clearFromSheet, readSheet, writeToSheet } from "./sheets.ts";
import type { HostCallSlots } from "./slots.ts";
import type { WebhookEvents } from "./webhook-events.ts";

export interface HostDependencies {
  definitions: Definitions;
  dataSources: DataSources;
  safeFetch: SafeFetch;
  webhookEvents: WebhookEvents;
  values: WorkspaceValues;
  sheets: Sheets;
  slots: HostCallSlots;
  /** Undefined in an installation without a mail server. */
  sendMail: SendMail | undefined;
}

type Context = HostCallContext & { callTool: CallTool };
type HostFunction = (deps: HostDependencies, args: unknown[], context: Context) => Promise<unknown>;

/** Runs another tool of the workspace as a child of this run, and returns its result as JSON. */
type CallTool = (name: string, args: unknown, signal: AbortSignal) => Promise<string>;

/** A result that is already JSON text. */
class JsonText {
  readonly json: HostResult;

  constructor(json: HostResult) {
    this.json = json;
  }
}

/** [RO] A host call of a run. Everything that a run may not do is refused here, outside the sandbox. */
export function makeHostCall(
  deps: HostDependencies,
  run: Run,
  callTool: CallTool,
  [name, argsJson, signal]: Parameters<HostCall>,
): ReturnType<HostCall> {
  return logged(run, name, async (entry) => {
    const hostFunction = Object.hasOwn(BY_NAME, name) ? BY_NAME[name as HostFunctionName] : undefined;
    if (!hostFunction) throw new ToolError("NOT_AVAILABLE", `${name} is not available in this workspace`);
    try {
      const args = JSON.parse(argsJson);
      if (isDeeperThan(args, MAX_ARGUMENT_LEVELS + 1)) {
        throw new ToolError("INVALID_ARGUMENT", `arguments are nested at most ${MAX_ARGUMENT_LEVELS} levels deep`);
      }
      const context = { tool: run.tool.name, scope: run.scope, entry, signal, callTool };
      const value = await hostFunction(deps, args, context);
      return value instanceof JsonText ? value.json : JSON.stringify(value ?? null);
    } catch (error) {
      throw toolErrorOf(error, name, run);
    }
  });
}

/** Keeps the details for the log. The tool's code does not learn why the platform failed. */
function toolErrorOf(error: unknown, name: string, run: Run): ToolError {
  if (error instanceof ToolError) {
    if (error.detail) addDetail(run, `${name}: ${error.detail}`);
    return error;
  }
  addDetail(run, `${name}: ${String(error)}`);
  // A new error: a NotStarted of a nested run must not count for this run, which has started.
  const failure = error instanceof NotJson ? error : new Error(`${name} failed`, { cause: error });
  if (!run.platformFailure || run.platformFailure instanceof NotJson) run.platformFailure = failure;
  return new ToolError("INTERNAL", "the platform could not do this");
}

const onSheets =
  (call: (sheets: Sheets, args: unknown[], context: HostCallContext) => Promise<unknown>): HostFunction =>
  async ({ sheets, slots }, args, context) => {
    using _slot = await slots.take("sheets", context.scope.workspaceId, context.signal);
    return await call(sheets, args, context);
  };

const BY_NAME: Readonly<Record<HostFunctionName, HostFunction>> = {
  callTool: async (_, [name, args], { entry, signal, callTool }) => {
    entry.target = text(name, "name");
    return new JsonText(await callTool(entry.target, args, signal));
  },
  executePreparedQuery: async (deps, [name, args], context) => {
    const { scope, entry } = context;
    entry.target = text(name, "name");
    const query = await deps.definitions.preparedQuery(scope.workspaceId, entry.target, scope.epoch);
    const given = object(args ?? {}, "args");
    return new JsonText(resultJson(await runPreparedQuery(deps, query, given, context, remainingMs(scope))));
  },
  executeQuery: async ({ dataSources }, [sql], context) =>
    new JsonText(resultJson(await runFreeSql(dataSources, text(sql, "sql"), context))),
  readSheet: onSheets(async (...given) => new JsonText(await readSheet(...given))),
  writeToSheet: onSheets(writeToSheet),
  clearFromSheet: onSheets(clearFromSheet),
  emitWebhook: ({ webhookEvents }, [name, data], context) => webhookEvents.custom(name, data, context),
  sendMail: ({ sendMail }, args, context) => sendMailForTool(sendMail, args, context),
  variable: async ({ values }, [name], { scope, entry }) => {
    entry.target = text(name, "name");
    return values.variable(entry.target, scope);
  },
  fetch: fetchForTool,
};
