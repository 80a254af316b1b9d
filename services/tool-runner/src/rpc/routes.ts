import type { ConnectRouter } from "@connectrpc/connect";
import { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { ExecutionService } from "@toolgate/gen/toolgate/tool_runner/v1/execution_pb";
import { HookTargetService } from "@toolgate/gen/toolgate/tool_runner/v1/hook_target_pb";
import { ProposalService } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { bind } from "@toolgate/service-host/handler";
import type { Context } from "../context.ts";
import { checkHookTarget } from "./check-hook-target.ts";
import { dataSourceHandlers } from "./data/data-source.ts";
import { preparedQueryHandlers } from "./data/prepared-queries.ts";
import { secretAndVariableHandlers } from "./data/secrets-and-variables.ts";
import { sheetHandlers } from "./data/sheets.ts";
import { executionHandlers } from "./executions.ts";
import { proposalHandlers } from "./proposals.ts";
import { apiDescriptionHandlers } from "./tools/api-description.ts";
import { describeTools } from "./tools/describe-tools.ts";
import { draftHandlers } from "./tools/drafts.ts";
import { findTools, listTools } from "./tools/list-tools.ts";
import { toolHandlers } from "./tools/tools.ts";
import { versionHandlers } from "./tools/versions.ts";

export function registerRoutes(router: ConnectRouter, context: Context): void {
  router.service(
    ToolService,
    bind(context, {
      ...toolHandlers,
      ...draftHandlers,
      ...versionHandlers,
      ...apiDescriptionHandlers,
      listTools,
      describeTools,
    }),
  );
  router.service(
    DataSourceService,
    bind(context, {
      ...dataSourceHandlers,
      ...preparedQueryHandlers,
      ...secretAndVariableHandlers,
      ...sheetHandlers,
    }),
  );
  router.service(ProposalService, bind(context, { ...proposalHandlers, findTools }));
  router.service(ExecutionService, bind(context, executionHandlers));
  router.service(HookTargetService, bind(context, { checkHookTarget }));
}
