import { Code, ConnectError } from "@connectrpc/connect";
import type { ProposalService } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import {
  type ListToolsRequest,
  ToolKind,
  ToolOrder,
  type ToolService,
} from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Handler } from "@toolgate/service-host/handler";
import {
  CURSOR,
  MAX_PAGE_BYTES,
  nextPageToken,
  pageSize,
  parsePageToken,
  readPage,
} from "@toolgate/service-host/paging";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { FLAGS } from "../../domain/definitions/release.ts";
import { type ListedTool, listTools as listRows, type ToolFilter } from "../../store/tool-list.ts";
import { toolMessage } from "./tools.ts";

/** A definition takes several times as long to encode as other text of its size: each of its values is a message. */
const MAX_BYTES = MAX_PAGE_BYTES / 4;
const MAX_SEARCH_CHARACTERS = 100;
const KINDS: Readonly<Record<number, ToolFilter["kind"]>> = {
  [ToolKind.UNSPECIFIED]: undefined,
  [ToolKind.HANDLER]: "handler",
  [ToolKind.API]: "api",
  [ToolKind.QUERY]: "query",
};
const ORDERS: ReadonlySet<number> = new Set([ToolOrder.UNSPECIFIED, ToolOrder.SAVED]);

const MAX_FOUND_TOOLS = 100;

export const listTools: Handler<Context, typeof ToolService.method.listTools> = async ({ pool }, request, call) => {
  const size = pageSize(request.pageSize);
  const { workspaceId } = principalOf(call);
  const lastSavedFirst = request.order === ToolOrder.SAVED;
  const list = { filter: filterOf(request), summary: request.summary, lastSavedFirst };
  const cursor = lastSavedFirst ? { name: CURSOR.name, savedAt: CURSOR.time } : { name: CURSOR.name };
  const after = parsePageToken<{ name: string; savedAt?: string }>(request.pageToken, cursor as never);
  const { page, last } = await readPage<ListedTool>({
    size,
    maxBytes: MAX_BYTES,
    sizeOf: ({ definitionJson }) => definitionJson.length,
    read: (limit, row) =>
      listRows(pool, workspaceId, list, limit, row ? { name: row.name, savedAt: row.savedAtText } : after),
  });
  const next = last && { name: last.name, ...(lastSavedFirst && { savedAt: last.savedAtText }) };
  return { tools: page.map(listedTool), nextPageToken: next ? nextPageToken(next) : "" };
};

/** For the builder: the tools that contain a word. */
export const findTools: Handler<Context, typeof ProposalService.method.findTools> = async (
  { pool },
  { workspaceId, search },
) => {
  const filter = { search: searchOf(search), kind: undefined, flag: "" };
  const list = { filter, summary: true, lastSavedFirst: false };
  const rows = await listRows(pool, workspaceId, list, MAX_FOUND_TOOLS, undefined);
  return { tools: rows.map(listedTool) };
};

function listedTool({ definitionJson, ...row }: ListedTool) {
  return toolMessage({ ...row, definition: JSON.parse(definitionJson) });
}

function filterOf({ search, kind, flag, order }: ListToolsRequest): ToolFilter {
  if (!Object.hasOwn(KINDS, kind)) throw invalid("kind", "not a kind of tool");
  if (flag !== "" && !FLAGS.includes(flag)) throw invalid("flag", `must be one of ${FLAGS.join(", ")}`);
  if (!ORDERS.has(order)) throw invalid("order", "not an order of this list");
  return { search: searchOf(search), kind: KINDS[kind], flag };
}

function searchOf(text: string): string {
  if (text.length > MAX_SEARCH_CHARACTERS) throw invalid("search", `at most ${MAX_SEARCH_CHARACTERS} characters`);
  return text.trim();
}

function invalid(field: string, message: string): ConnectError {
  return new ConnectError(`${field}: ${message}`, Code.InvalidArgument);
}
