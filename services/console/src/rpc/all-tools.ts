import { createClient } from "@connectrpc/connect";
import { useQuery } from "@tanstack/react-query";
import { type Tool, ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { transport } from "./transport.ts";
import { useWorkspace } from "./use-session.ts";

const PAGE_SIZE = 100;
/** More tools than anybody looks through; it also bounds how often this asks. */
const MAX_PAGES = 20;

interface ToolsFilter {
  /** Only tools whose flag of this name is true. */
  flag?: string;
  /** Without code and parameters. */
  summary?: boolean;
}

/** The tools that a form offers, by name. */
export async function readAllTools(workspace: string, filter: ToolsFilter): Promise<Tool[]> {
  const service = createClient(ToolService, transport);
  const found: Tool[] = [];
  let pageToken = "";
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await service.listTools({ workspace, pageSize: PAGE_SIZE, pageToken, ...filter });
    found.push(...answer.tools);
    pageToken = answer.nextPageToken;
    if (pageToken === "") break;
  }
  return found;
}

/** The tools with a flag: no data until they have come. */
export function useToolsWith(flag: string) {
  const workspace = useWorkspace();
  const queryFn = () => readAllTools(workspace, { flag, summary: true });
  return useQuery({ queryKey: ["tools with", flag, workspace], queryFn });
}
