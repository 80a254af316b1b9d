import type { JsonObject } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { CompareDialog } from "../../definition/compare-dialog.tsx";
import { versionOf } from "../assistant-version.ts";

export function CompareAssistant({ name, draft, onClose }: { name: string; draft: JsonObject; onClose: () => void }) {
  const workspace = useWorkspace();
  const { data, error } = useQuery(AssistantService.method.getAssistant, { workspace, name }, { staleTime: 0 });
  const saved = data?.assistant && versionOf(data.assistant).definition;
  return <CompareDialog saved={saved} error={error} draft={draft} onClose={onClose} />;
}
