import { type ReactNode, useState } from "react";
import { type Failure, failureOf } from "../../../rpc/errors.ts";
import { VERSIONS } from "../../../text/en/tools/tool-editor.ts";
import { Button } from "../../../ui/button.tsx";
import { toast } from "../../../ui/dialog/toast.tsx";
import { FailureText } from "../../../ui/page/failure.tsx";
import { exposedFlags } from "../exposed-flags.ts";
import type { ExposureQuestion } from "../exposure-dialog.tsx";

interface RestoreVersionProps {
  version: number;
  /** Resolves with the number of the new version. */
  restore: (confirmExposure: boolean) => Promise<number>;
  /** Asks before the version opens something to callers outside. */
  askExposure: (question: ExposureQuestion) => ReactNode;
  onRestored: () => void;
}

/** [EXPO-2] Saves an old version again; it asks when that version is open to callers outside. */
export function RestoreVersion({ version, restore, askExposure, onRestored }: RestoreVersionProps) {
  const [flags, setFlags] = useState<string[]>();
  const [failure, setFailure] = useState<Failure>();
  const [isPending, setPending] = useState(false);
  const save = async (confirmExposure: boolean) => {
    toast(VERSIONS.restored(version, await restore(confirmExposure)));
    onRestored();
  };
  const start = () => {
    setFailure(undefined);
    setPending(true);
    save(false)
      .catch((error) => {
        const exposed = exposedFlags(error);
        if (exposed) setFlags(exposed);
        else setFailure(failureOf(error));
      })
      .finally(() => setPending(false));
  };
  return (
    <>
      <Button pending={isPending} onClick={start}>
        {VERSIONS.restore}
      </Button>
      {failure && <FailureText failure={failure} />}
      {flags && askExposure({ flags, onConfirm: () => save(true), onClose: () => setFlags(undefined) })}
    </>
  );
}
