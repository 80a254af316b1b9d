import { ConnectError } from "@connectrpc/connect";
import { useMutation } from "@connectrpc/connect-query";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useState } from "react";
import { type Failure, failureOf } from "../../../rpc/errors.ts";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { EDITOR } from "../../../text/en/tool-editor.ts";
import { toast } from "../../../ui/dialog/toast.tsx";
import { exposedFlags } from "../exposure/exposed-flags.ts";
import type { Draft } from "./use-draft.ts";

interface SaveOptions {
  /** For this one save. */
  confirmExposure?: boolean;
  /** The user has been told that somebody else saved the tool, and saves nevertheless. */
  overwrite?: boolean;
}

/** Saves a draft over the version that it began from. */
export function useSave(name: string, draft: Draft, onSaved: () => void) {
  const workspace = useWorkspace();
  const { mutateAsync, isPending } = useMutation(ToolService.method.saveTool);
  const [failure, setFailure] = useState<Failure>();
  /** The question that is open: the flags that need a confirmation. */
  const [question, setQuestion] = useState<{ flags: string[]; overwrite: boolean }>();

  async function save({ confirmExposure = false, overwrite = false }: SaveOptions = {}): Promise<void> {
    setFailure(undefined);
    try {
      const { tool } = await mutateAsync({
        workspace,
        name,
        definition: draft.definition,
        confirmExposure,
        ...(!overwrite && { expectedVersion: draft.base.version }),
      });
      if (!tool) return;
      draft.saved(tool);
      toast(EDITOR.saved(tool.version));
      onSaved();
    } catch (error) {
      const flags = exposedFlags(error);
      if (flags) setQuestion({ flags, overwrite });
      else setFailure(withPart(error));
    }
  }

  return { save, isPending, failure, question, closeQuestion: () => setQuestion(undefined) };
}

/** The message names the part of the definition that was refused: its field may be out of sight. */
function withPart(error: unknown): Failure {
  const failure = failureOf(error);
  return failure.field === "" ? failure : { ...failure, message: ConnectError.from(error).rawMessage };
}
