import { Code, ConnectError } from "@connectrpc/connect";
import { describe, describeForModels } from "@toolgate/api-examples/definition";
import type { DescribeToolsRequest, ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Pool } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import { callerOf } from "@toolgate/service-host/identity/caller";
import type { Context } from "../../context.ts";
import { carriesRelease } from "../../domain/definitions/release.ts";
import { SHARED_TOOLS } from "../../domain/definitions/shared-tools.ts";
import { findOutlines, type ToolOutline } from "../../store/tools.ts";
import { apiDescriptionOf } from "./api-description.ts";

const MAX_NAMES = 1_000;
/** Of the definitions without their bodies, together; less than a message may have. */
const MAX_BYTES = 3 * 1024 * 1024;
/** Each turn of an assistant sends all of them to its model, which reads no more. */
const MAX_BYTES_OF_ASSISTANT = 512 * 1024;
/** Each may have megabytes, so not all are read at once. */
const READ_AT_ONCE = 8;

/** [OAPI-3] Always reads the database, so the response is at least as new as any epoch that the caller has. */
export const describeTools: Handler<Context, typeof ToolService.method.describeTools> = async (
  context,
  request,
  call,
) => {
  const { pool } = context;
  const { workspaceId, names } = request;
  if (callerOf(call) === "gateway") await assertDescribes(context, request);
  if (names.length > MAX_NAMES) throw new ConnectError(`names: at most ${MAX_NAMES}`, Code.InvalidArgument);
  const rows = await readOutlines(pool, workspaceId, names, request.forAssistant ? MAX_BYTES_OF_ASSISTANT : MAX_BYTES);
  if (request.forAssistant) {
    const shared = Object.entries(SHARED_TOOLS).filter(([name]) => names.includes(name));
    return {
      tools: [
        ...rows.map(({ name, version, outline }) => ({ name, version, ...describeForModels(outline) })),
        ...shared.map(([name, tool]) => ({ name, ...describeForModels(tool) })),
      ],
    };
  }
  const tools = rows
    .filter((row) => carriesRelease(row.outline))
    .map(({ name, version, outline, body }) => ({ name, version, ...describe(outline, body) }));
  return { tools, about: await apiDescriptionOf(pool, workspaceId) };
};

/** Throws unless key-auth has just verified a key of the workspace. The gateway describes tools for keys alone. */
async function assertDescribes({ grants }: Context, request: DescribeToolsRequest): Promise<void> {
  const granted = await grants.read(request.grant);
  if (request.forAssistant || granted.workspaceId !== request.workspaceId)
    throw new ConnectError("the grant is for another request", Code.PermissionDenied);
}

/** Fails with failed_precondition when they are too large together. */
async function readOutlines(pool: Pool, workspaceId: string, names: string[], maxBytes: number) {
  const all: (Omit<ToolOutline, "outlineJson"> & { outline: unknown })[] = [];
  let bytes = 0;
  for (;;) {
    const rows = await findOutlines(pool, workspaceId, names, READ_AT_ONCE, all.at(-1)?.name ?? "");
    for (const { outlineJson, ...row } of rows) {
      bytes += Buffer.byteLength(outlineJson);
      if (bytes > maxBytes) {
        throw new ConnectError(
          `the descriptions of these tools have more than ${maxBytes / 1024} KiB together`,
          Code.FailedPrecondition,
        );
      }
      all.push({ ...row, outline: JSON.parse(outlineJson) });
    }
    if (rows.length < READ_AT_ONCE) return all;
  }
}
