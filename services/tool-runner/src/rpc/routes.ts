import type { ConnectRouter } from "@connectrpc/connect";
import { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { ExecutionService } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { HookTargetService } from "@toolgate/gen/toolgate/tool_runner/v1/hook_target_pb";
import { ProposalService } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { bind } from "@toolgate/service-host/handler";
import type { Context } from "../context.ts";
import { getApiDescription } from "./api-description/get-api-description.ts";
import { setApiDescription } from "./api-description/set-api-description.ts";
import { deletePreparedQuery } from "./data-sources/delete-prepared-query.ts";
import { dryRunQuery } from "./data-sources/dry-run-query.ts";
import { getDataSource } from "./data-sources/get-data-source.ts";
import { listPreparedQueries } from "./data-sources/list-prepared-queries.ts";
import { savePreparedQuery } from "./data-sources/save-prepared-query.ts";
import { setDataSource } from "./data-sources/set-data-source.ts";
import { testDataSource } from "./data-sources/test-data-source.ts";
import { getExecution } from "./executions/get-execution.ts";
import { getHourlyCounts } from "./executions/get-hourly-counts.ts";
import { listExecutions } from "./executions/list-executions.ts";
import { checkHookTarget } from "./hooks/check-hook-target.ts";
import { confirmProposal } from "./proposals/confirm-proposal.ts";
import { createProposal } from "./proposals/create-proposal.ts";
import { findTools } from "./proposals/find-tools.ts";
import { getProposal } from "./proposals/get-proposal.ts";
import { readLastProposal } from "./proposals/read-last-proposal.ts";
import { readTool } from "./proposals/read-tool.ts";
import { deleteSheet } from "./sheets/delete-sheet.ts";
import { listSheets } from "./sheets/list-sheets.ts";
import { readSheet } from "./sheets/read-sheet.ts";
import { checkTool } from "./tools/check-tool.ts";
import { checkTools } from "./tools/check-tools.ts";
import { deleteTool } from "./tools/delete-tool.ts";
import { describeTools } from "./tools/describe-tools.ts";
import { dryRun } from "./tools/dry-run.ts";
import { explainRelease } from "./tools/explain-release.ts";
import { getTool } from "./tools/get-tool.ts";
import { getToolOverview } from "./tools/get-tool-overview.ts";
import { getToolVersion } from "./tools/get-tool-version.ts";
import { listToolVersions } from "./tools/list-tool-versions.ts";
import { listTools } from "./tools/list-tools.ts";
import { restoreToolVersion } from "./tools/restore-tool-version.ts";
import { saveTool } from "./tools/save-tool.ts";
import { deleteSecret } from "./values/delete-secret.ts";
import { deleteVariable } from "./values/delete-variable.ts";
import { listSecrets } from "./values/list-secrets.ts";
import { listVariables } from "./values/list-variables.ts";
import { saveSecret } from "./values/save-secret.ts";
import { saveVariable } from "./values/save-variable.ts";

export function registerRoutes(router: ConnectRouter, context: Context): void {
  router.service(
    ToolService,
    bind(context, {
      saveTool,
      checkTool,
      getTool,
      listTools,
      deleteTool,
      listToolVersions,
      getToolVersion,
      restoreToolVersion,
      dryRun,
      getToolOverview,
      checkTools,
      describeTools,
      explainRelease,
      getApiDescription,
      setApiDescription,
    }),
  );
  router.service(
    DataSourceService,
    bind(context, {
      setDataSource,
      getDataSource,
      testDataSource,
      dryRunQuery,
      savePreparedQuery,
      listPreparedQueries,
      deletePreparedQuery,
      saveSecret,
      listSecrets,
      deleteSecret,
      saveVariable,
      listVariables,
      deleteVariable,
      listSheets,
      readSheet,
      deleteSheet,
    }),
  );
  router.service(
    ProposalService,
    bind(context, { findTools, readTool, createProposal, readLastProposal, getProposal, confirmProposal }),
  );
  router.service(ExecutionService, bind(context, { listExecutions, getExecution, getHourlyCounts }));
  router.service(HookTargetService, bind(context, { checkHookTarget }));
}
