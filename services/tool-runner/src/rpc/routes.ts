import type { ConnectRouter } from "@connectrpc/connect";
import type { ServedCalls } from "@toolgate/call-stream/serve";
import { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { ExecutionService } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { RunService } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Context } from "../context.ts";
import type { DryRunDependencies } from "../execution/dry-run.ts";
import { checkTools } from "./check-tools.ts";
import { deletePreparedQuery } from "./delete-prepared-query.ts";
import { deleteSecret } from "./delete-secret.ts";
import { deleteSheet } from "./delete-sheet.ts";
import { deleteTool } from "./delete-tool.ts";
import { deleteVariable } from "./delete-variable.ts";
import { describeTools } from "./describe-tools.ts";
import { dryRun } from "./dry-run.ts";
import { explainRelease } from "./explain-release.ts";
import { getExecution } from "./get-execution.ts";
import { getTool } from "./get-tool.ts";
import { getToolVersion } from "./get-tool-version.ts";
import { listExecutions } from "./list-executions.ts";
import { listPreparedQueries } from "./list-prepared-queries.ts";
import { listSecrets } from "./list-secrets.ts";
import { listSheets } from "./list-sheets.ts";
import { listToolVersions } from "./list-tool-versions.ts";
import { listTools } from "./list-tools.ts";
import { listVariables } from "./list-variables.ts";
import { readSheet } from "./read-sheet.ts";
import { restoreToolVersion } from "./restore-tool-version.ts";
import type { RunHandler } from "./run.ts";
import { savePreparedQuery } from "./save-prepared-query.ts";
import { saveSecret } from "./save-secret.ts";
import { saveTool } from "./save-tool.ts";
import { saveVariable } from "./save-variable.ts";
import { setDataSource } from "./set-data-source.ts";

export interface RunRpcs {
  run: RunHandler;
  runCalls: ServedCalls;
  /** What a dry run works with. */
  execution: DryRunDependencies;
}

export function registerRoutes(router: ConnectRouter, context: Context, { run, runCalls, execution }: RunRpcs): void {
  router.service(RunService, { run: (request, call) => run(request, call), runCalls });
  router.service(ToolService, {
    saveTool: (request, call) => saveTool(context, request, call),
    getTool: (request, call) => getTool(context, request, call),
    listTools: (request, call) => listTools(context, request, call),
    deleteTool: (request, call) => deleteTool(context, request, call),
    listToolVersions: (request, call) => listToolVersions(context, request, call),
    getToolVersion: (request, call) => getToolVersion(context, request, call),
    restoreToolVersion: (request, call) => restoreToolVersion(context, request, call),
    dryRun: (request, call) => dryRun(execution, request, call),
    checkTools: (request) => checkTools(context, request),
    describeTools: (request) => describeTools(context, request),
    explainRelease: (request) => explainRelease(context, request),
  });
  router.service(DataSourceService, {
    setDataSource: (request, call) => setDataSource(context, request, call),
    savePreparedQuery: (request, call) => savePreparedQuery(context, request, call),
    listPreparedQueries: (_, call) => listPreparedQueries(context, call),
    deletePreparedQuery: (request, call) => deletePreparedQuery(context, request, call),
    saveSecret: (request, call) => saveSecret(context, request, call),
    listSecrets: (_, call) => listSecrets(context, call),
    deleteSecret: (request, call) => deleteSecret(context, request, call),
    saveVariable: (request, call) => saveVariable(context, request, call),
    listVariables: (_, call) => listVariables(context, call),
    deleteVariable: (request, call) => deleteVariable(context, request, call),
    listSheets: (_, call) => listSheets(context, call),
    readSheet: (request, call) => readSheet(context, request, call),
    deleteSheet: (request, call) => deleteSheet(context, request, call),
  });
  router.service(ExecutionService, {
    listExecutions: (request, call) => listExecutions(context, request, call),
    getExecution: (request, call) => getExecution(context, request, call),
  });
}
