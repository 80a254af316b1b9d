import type { JsonObject } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { CompareDialog } from "../../definition/compare-dialog.tsx";

export function CompareTool({ name, draft, onClose }: { name: string; draft: JsonObject; onClose: () => void }) {
  const workspace = useWorkspace();
  const { data, error } = useQuery(ToolService.method.getTool, { workspace, name }, { staleTime: 0 });
  return <CompareDialog saved={data?.tool?.definition} error={error} draft={draft} onClose={onClose} />;
}
