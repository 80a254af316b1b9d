import type { SafeFetch } from "@toolgate/safe-fetch/fetch";
import type { SendMail } from "../clients/mailer.ts";
import { MAX_ARGUMENT_LEVELS } from "../domain/calls/call-body.ts";
import type { HostFunctionName } from "../domain/host-functions.ts";
import { isDeeperThan } from "../domain/json-object.ts";
import type { HostCall, Paced } from "../sandbox/request.ts";
import type { DataSources } from "./data-sources.ts";
import type { Definitions } from "./definitions.ts";
import { fetchForTool } from "./fetch-call.ts";
import { runFreeSql } from "./free-sql.ts";
import { record, text } from "./host-arguments.ts";
import { type HostCallEntry, logged } from "./host-call-log.ts";
import { mailForTool } from "./mail-call.ts";
import { runPreparedQuery } from "./query-kind.ts";
import { type RunScope, ToolError } from "./run-scope.ts";
import { clearFromSheet, readSheet, writeToSheet } from "./sheet-calls.ts";
import type { Sheets } from "./sheets.ts";
import type { WebhookEvents } from "./webhook-events.ts";
import type { WorkspaceValues } from "./workspace-values.ts";

export interface HostDependencies {
  definitions: Definitions;
  dataSources: DataSources;
  safeFetch: SafeFetch;
  webhookEvents: WebhookEvents;
  values: WorkspaceValues;
  sheets: Sheets;
  /** Undefined in an installation without a mail server. */
  sendMail: SendMail | undefined;
}

/** The run that asks. */
export interface AskingRun {
  tool: string;
  /** Runs another tool of the workspace as a child of this run. */
  callTool: (name: string, args: unknown, signal: AbortSignal) => Promise<string>;
  /** Keeps a detail of a refused or failed call for the execution log. */
  note: (detail: string) => void;
  /** Keeps what the platform could not do, which is for the log alone, not for the tool's code. */
  noteFault: (name: string, cause: unknown) => void;
  hostCalls: HostCallEntry[];
}

type Place = { tool: string; scope: RunScope; entry: HostCallEntry; signal: AbortSignal };
type HostFunction = (args: unknown[], place: Place) => Promise<unknown>;

/** An answer that is JSON already. */
class JsonText {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

const atOnce: Paced = async (encode) => encode();

/**
 * What a handler or a shared tool may ask of the host, as one function. [RO] Everything that is refused is refused here,
 * outside the sandbox.
 */
export function createHostCalls(deps: HostDependencies, run: AskingRun, scope: RunScope): HostCall {
  const functions = hostFunctions(deps, run);
  return (name, argsJson, signal, paced = atOnce) =>
    logged(run.hostCalls, name, async (entry) => {
      const answer = Object.hasOwn(functions, name) ? functions[name as HostFunctionName] : undefined;
      if (!answer) throw new ToolError("NOT_AVAILABLE", `${name} is not available in this workspace`);
      try {
        const args = JSON.parse(argsJson);
        if (isDeeperThan(args, MAX_ARGUMENT_LEVELS + 1)) {
          throw new ToolError("INVALID_ARGUMENT", `arguments are nested at most ${MAX_ARGUMENT_LEVELS} levels deep`);
        }
        const value = await answer(args, { tool: run.tool, scope, entry, signal });
        return await paced(() => (value instanceof JsonText ? value.json : JSON.stringify(value ?? null)));
      } catch (error) {
        if (!(error instanceof ToolError)) {
          run.noteFault(name, error);
          throw new ToolError("INTERNAL", "the platform could not do this");
        }
        if (error.detail) run.note(`${name}: ${error.detail}`);
        throw error;
      }
    });
}

function hostFunctions(deps: HostDependencies, run: AskingRun): Record<HostFunctionName, HostFunction> {
  const { definitions, dataSources, sheets, values, webhookEvents } = deps;
  return {
    callTool: async ([name, args], { entry, signal }) => {
      entry.target = text(name, "name");
      return new JsonText(await run.callTool(entry.target, args, signal));
    },
    executePreparedQuery: async ([name, args], { tool, scope, entry, signal }) => {
      entry.target = text(name, "name");
      const query = await definitions.preparedQuery(scope.workspaceId, entry.target, scope.epoch);
      entry.recorded = scope.dryRun !== undefined && query?.mode === "write";
      const remainingMs = Math.max(1, scope.deadline - performance.now());
      const bound = record(args ?? {}, "args");
      return new JsonText(await runPreparedQuery(dataSources, tool, query, bound, scope, remainingMs, signal));
    },
    executeQuery: async ([sql], { tool, scope, signal }) =>
      runFreeSql(dataSources, tool, text(sql, "sql"), scope, signal),
    readSheet: (args, place) => readSheet(sheets, args, place),
    writeToSheet: (args, place) => writeToSheet(sheets, args, place),
    clearFromSheet: (args, place) => clearFromSheet(sheets, args, place),
    emitWebhook: async ([name, data], { tool, scope, entry }) => {
      entry.target = typeof name === "string" ? name : "";
      entry.recorded = scope.dryRun !== undefined;
      await webhookEvents.custom(tool, name, data, scope);
    },
    sendMail: (args, place) => mailForTool(deps.sendMail, args, place),
    variable: async ([name], { scope, entry }) => {
      entry.target = text(name, "name");
      return values.variable(entry.target, scope);
    },
    fetch: (args, place) => fetchForTool(deps, args, place),
  };
}
