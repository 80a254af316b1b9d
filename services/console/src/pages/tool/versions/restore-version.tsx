import { useMutation } from "@connectrpc/connect-query";
import { type Tool, ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useState } from "react";
import { type Failure, failureOf } from "../../../rpc/errors.ts";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { VERSIONS } from "../../../text/en/tool-editor.ts";
import { Button } from "../../../ui/button.tsx";
import { toast } from "../../../ui/dialog/toast.tsx";
import { FailureText } from "../../../ui/page/failure.tsx";
import { exposedFlags } from "../exposure/exposed-flags.ts";
import { ExposureDialog } from "../exposure/exposure-dialog.tsx";

interface RestoreVersionProps {
  name: string;
  of: Tool;
  onRestored: () => void;
}

/** [EXPO-2] Saves an old version again; it asks when that version is open to callers outside. */
export function RestoreVersion({ name, of: { version, definition = {} }, onRestored }: RestoreVersionProps) {
  const workspace = useWorkspace();
  const { mutateAsync, isPending } = useMutation(ToolService.method.restoreToolVersion);
  const [flags, setFlags] = useState<string[]>();
  const [failure, setFailure] = useState<Failure>();
  const restore = async (confirmExposure: boolean) => {
    const { tool } = await mutateAsync({ workspace, name, version, confirmExposure });
    toast(VERSIONS.restored(version, tool?.version ?? 0));
    onRestored();
  };
  const start = () => {
    setFailure(undefined);
    restore(false).catch((error) => {
      const exposed = exposedFlags(error);
      if (exposed) setFlags(exposed);
      else setFailure(failureOf(error));
    });
  };
  return (
    <>
      <Button pending={isPending} onClick={start}>
        {VERSIONS.restore}
      </Button>
      {failure && <FailureText failure={failure} />}
      {flags && (
        <ExposureDialog
          tool={name}
          definition={definition}
          flags={flags}
          onClose={() => setFlags(undefined)}
          onConfirm={() => restore(true)}
        />
      )}
    </>
  );
}
