import { useMutation, useQuery } from "@connectrpc/connect-query";
import { type Tool, ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { failureOf } from "../../../rpc/errors.ts";
import { useCanManage, useWorkspace } from "../../../rpc/use-session.ts";
import { FailureText } from "../../../ui/page/failure.tsx";
import { RestoreVersion } from "../../definition/versions/restore-version.tsx";
import { VersionPanel } from "../../definition/versions/version-panel.tsx";
import { ToolExposure } from "../exposure/tool-exposure.tsx";

interface ToolVersionProps {
  name: string;
  version: number;
  current: Tool | undefined;
  onClose: () => void;
  onRestored: () => void;
}

export function ToolVersion({ name, version, current, onClose, onRestored }: ToolVersionProps) {
  const workspace = useWorkspace();
  const canManage = useCanManage();
  const { mutateAsync } = useMutation(ToolService.method.restoreToolVersion);
  const { getToolVersion } = ToolService.method;
  const { data, error, refetch } = useQuery(getToolVersion, { workspace, name, version });
  const before = useQuery(getToolVersion, { workspace, name, version: version - 1 }, { enabled: version > 1 });
  const shown = data?.tool;
  const restore = async (confirmExposure: boolean) =>
    (await mutateAsync({ workspace, name, version, confirmExposure })).tool?.version ?? 0;
  return (
    <VersionPanel
      version={version}
      shown={shown}
      current={current}
      before={before.data?.tool?.definition}
      onClose={onClose}
      restore={
        canManage && (
          <RestoreVersion
            version={version}
            restore={restore}
            askExposure={(question) => <ToolExposure tool={name} definition={shown?.definition ?? {}} {...question} />}
            onRestored={onRestored}
          />
        )
      }
    >
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      {before.error && <FailureText failure={failureOf(before.error)} onRetry={() => void before.refetch()} />}
    </VersionPanel>
  );
}
