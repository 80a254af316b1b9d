import { Code, ConnectError } from "@connectrpc/connect";
import type { ProposalService } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { listTools } from "../../store/tool-list.ts";
import { toolMessage } from "../tools/tool-message.ts";

const MAX_SEARCH_CHARACTERS = 100;
const MAX_TOOLS = 100;

export const findTools: Handler<Context, typeof ProposalService.method.findTools> = async (
  { pool },
  { workspaceId, search },
) => {
  if (search.length > MAX_SEARCH_CHARACTERS)
    throw new ConnectError(`search: at most ${MAX_SEARCH_CHARACTERS} characters`, Code.InvalidArgument);
  const filter = { search: search.trim(), kind: undefined, flag: "" };
  const list = { filter, summary: true, lastSavedFirst: false };
  const rows = await listTools(pool, workspaceId, list, MAX_TOOLS, undefined);
  return {
    tools: rows.map(({ definitionJson, ...row }) => toolMessage({ ...row, definition: JSON.parse(definitionJson) })),
  };
};
