import { type DataSourceService, QueryMode } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { argumentValues, numberParameters } from "../../domain/data/named-parameters.ts";
import { MAX_DRY_RUN_MS } from "../../execution/dry-run.ts";
import { ToolError } from "../../execution/errors.ts";
import { mustBeQuery } from "./save-prepared-query.ts";

export const dryRunQuery: Handler<Context, typeof DataSourceService.method.dryRunQuery> = async (
  { dataSources, currentEpoch },
  { query, parameters = {} },
  call,
) => {
  const { sql, mode } = mustBeQuery(query);
  const { workspaceId } = principalOf(call);
  const { text, names } = numberParameters(sql);
  const startedAt = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAt);
  try {
    const { rows, row_count: rowCount } = await dataSources.run(
      { workspaceId, epoch: await currentEpoch(workspaceId) },
      {
        text,
        values: argumentValues(names, parameters),
        readOnly: mode !== QueryMode.WRITE,
        keep: false,
        timeoutMs: MAX_DRY_RUN_MS,
      },
      call.signal,
    );
    return { rowsJson: rows.parts().join(""), rowCount, durationMs: durationMs() };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { error: error.detail ?? error.message, durationMs: durationMs() };
  }
};
