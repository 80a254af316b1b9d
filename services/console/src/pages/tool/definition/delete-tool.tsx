import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { DELETE, EDITOR, EXPOSURE } from "../../../text/en/tools/tool-editor.ts";
import { Confirm } from "../../../ui/dialog/confirm.tsx";
import { toast } from "../../../ui/dialog/toast.tsx";
import exposure from "../../definition/exposure.module.css";
import { Names } from "../../definition/names.tsx";
import { useCallers } from "../exposure/use-callers.ts";

export function DeleteTool({ name, onClose }: { name: string; onClose: () => void }) {
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const remove = useMutation(ToolService.method.deleteTool);
  const { callers, hasFailed } = useCallers(name);
  return (
    <Confirm
      title={DELETE.title(name)}
      action={DELETE.action}
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync({ workspace, name });
        toast(EDITOR.deleted(name));
        await navigate({ to: "/tools", search: {}, ignoreBlocker: true });
      }}
    >
      <div className={exposure.body}>
        <p>{DELETE.text}</p>
        {!callers && <p>{hasFailed ? EXPOSURE.uncounted : EXPOSURE.counting}</p>}
        {callers?.keys.length === 0 && <p>{DELETE.noKeys}</p>}
        {callers && callers.keys.length > 0 && (
          <div>
            <p>{DELETE.keys}</p>
            <Names names={callers.keys} />
          </div>
        )}
      </div>
    </Confirm>
  );
}
