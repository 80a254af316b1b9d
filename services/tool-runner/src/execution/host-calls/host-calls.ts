import { isDeeperThan } from "@toolgate/rules/json-object";
import { MAX_ARGUMENT_LEVELS } from "../../domain/calls/call-body.ts";
import type { HostCallEntry, HostFunctionName } from "../../domain/host-functions.ts";
import { NotJson, ToolError } from "../errors.ts";
import { addDetail, type Run, remainingMs, truncated } from "../run.ts";
import { object, text } from "./arguments.ts";
import { fetchForTool } from "./fetch.ts";
import type { HostCallContext, HostDependencies } from "./host-call.ts";
import { sendMailForTool } from "./mail.ts";
import { runFreeSql, runPreparedQuery } from "./queries.ts";
import { clearFromSheet, readSheet, writeToSheet } from "./sheets.ts";
import { emitCustomEvent } from "./webhook-events.ts";

interface Call {
  name: string;
  argsJson: string;
  signal: AbortSignal;
  /** Runs another tool of the workspace as a child of this run, and returns its result as JSON. */
  callTool: (name: string, args: unknown, signal: AbortSignal) => Promise<string>;
}

type Context = HostCallContext & Pick<Call, "callTool">;
/** Returns JSON. */
type HostFunction = (deps: HostDependencies, args: unknown[], context: Context) => Promise<string>;

const MAX_ENTRIES = 100;
const MAX_TARGET_CHARS = 200;

/**
 * [RO] A host call of a run, which is added to the run's entries. Everything that a run may not do is refused here, outside
 * the sandbox.
 */
export async function makeHostCall(
  deps: HostDependencies,
  run: Run,
  { name, argsJson, signal, callTool }: Call,
): Promise<string> {
  const started = performance.now();
  const entry: HostCallEntry = {
    name,
    target: "",
    started_after_ms: Math.round(started - run.startedMs),
    duration_ms: 0,
    error_code: "",
    recorded: false,
  };
  try {
    const hostFunction = Object.hasOwn(BY_NAME, name) ? BY_NAME[name as HostFunctionName] : undefined;
    if (!hostFunction) throw new ToolError("NOT_AVAILABLE", `${name} is not available in this workspace`);
    const args = JSON.parse(argsJson);
    if (isDeeperThan(args, MAX_ARGUMENT_LEVELS + 1)) {
      throw new ToolError("INVALID_ARGUMENT", `arguments are nested at most ${MAX_ARGUMENT_LEVELS} levels deep`);
    }
    return await hostFunction(deps, args, { tool: run.tool.name, scope: run.scope, entry, signal, callTool });
  } catch (error) {
    const toolError = toolErrorOf(error, name, run);
    entry.recorded = false;
    entry.error_code = toolError.code;
    throw toolError;
  } finally {
    entry.duration_ms = Math.round(performance.now() - started);
    entry.target = truncated(entry.target, MAX_TARGET_CHARS);
    if (run.hostCalls.length < MAX_ENTRIES) run.hostCalls.push(entry);
  }
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
  (call: HostFunction): HostFunction =>
  async (deps, args, context) => {
    using _slot = await deps.slots.take("sheets", context.scope.workspaceId, context.signal);
    return await call(deps, args, context);
  };

const asJson =
  (call: (deps: HostDependencies, args: unknown[], context: Context) => Promise<unknown>): HostFunction =>
  async (...given) =>
    JSON.stringify((await call(...given)) ?? null);

const BY_NAME: Readonly<Record<HostFunctionName, HostFunction>> = {
  callTool: async (_, [name, args], { entry, signal, callTool }) => {
    entry.target = text(name, "name");
    return callTool(entry.target, args, signal);
  },
  executePreparedQuery: async (deps, [name, args], context) => {
    const { scope, entry } = context;
    entry.target = text(name, "name");
    const query = await deps.definitions.preparedQuery(scope.workspaceId, entry.target, scope.epoch);
    return runPreparedQuery(deps, query, object(args ?? {}, "args"), context, remainingMs(scope));
  },
  executeQuery: async ({ dataSources }, [sql], context) => runFreeSql(dataSources, text(sql, "sql"), context),
  readSheet: onSheets(readSheet),
  writeToSheet: onSheets(asJson(writeToSheet)),
  clearFromSheet: onSheets(asJson(clearFromSheet)),
  emitWebhook: asJson(emitCustomEvent),
  sendMail: asJson(sendMailForTool),
  variable: asJson(async ({ values }, [name], { scope, entry }) => {
    entry.target = text(name, "name");
    return values.variable(entry.target, scope);
  }),
  fetch: asJson(fetchForTool),
};
