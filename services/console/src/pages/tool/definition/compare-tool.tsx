import type { JsonObject } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { failureOf } from "../../../rpc/errors.ts";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { EDITOR } from "../../../text/en/tool-editor.ts";
import { Dialog } from "../../../ui/dialog/dialog.tsx";
import { FailureText } from "../../../ui/page/failure.tsx";
import { DefinitionDiff } from "../diff/definition-diff.tsx";

interface CompareToolProps {
  name: string;
  draft: JsonObject;
  onClose: () => void;
}

/** What a save would change in the tool as it is saved now. */
export function CompareTool({ name, draft, onClose }: CompareToolProps) {
  const workspace = useWorkspace();
  const { data, error } = useQuery(ToolService.method.getTool, { workspace, name }, { staleTime: 0 });
  return (
    <Dialog title={EDITOR.compareTitle} description={EDITOR.compareText} size="large" onClose={onClose}>
      {error && <FailureText failure={failureOf(error)} />}
      {data?.tool && <DefinitionDiff before={data.tool.definition ?? {}} after={draft} />}
    </Dialog>
  );
}
