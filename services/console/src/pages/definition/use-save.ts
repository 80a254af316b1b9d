import type { JsonObject } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { useState } from "react";
import { type Failure, failureOf } from "../../rpc/errors.ts";
import { EDITOR } from "../../text/en/tools/tool-editor.ts";
import { toast } from "../../ui/dialog/toast.tsx";
import { exposedFlags } from "./exposed-flags.ts";
import type { Draft } from "./use-draft.ts";
import type { Versioned } from "./versioned.ts";

interface SaveOptions {
  /** For this one save. */
  confirmExposure?: boolean;
  /** The user has been told that somebody else saved a newer version, and saves nevertheless. */
  overwrite?: boolean;
}

/** What the server is asked to save. */
export interface Save {
  definition: JsonObject;
  confirmExposure: boolean;
  /** The version that it may replace; any when not set. */
  expectedVersion?: number;
}

export type Saving = ReturnType<typeof useSave>;

/** Saves a draft over the version that it began from. */
export function useSave(draft: Draft, call: (save: Save) => Promise<Versioned | undefined>, onSaved: () => void) {
  const [isPending, setPending] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  /** The question that is open: the flags that need a confirmation. */
  const [question, setQuestion] = useState<{ flags: string[]; overwrite: boolean }>();

  async function save({ confirmExposure = false, overwrite = false }: SaveOptions = {}): Promise<void> {
    setFailure(undefined);
    setPending(true);
    try {
      const { definition, base } = draft;
      const saved = await call({
        definition,
        confirmExposure,
        ...(!overwrite && { expectedVersion: base.version }),
      });
      if (!saved) return;
      draft.saved(saved);
      toast(EDITOR.saved(saved.version));
      onSaved();
    } catch (error) {
      const flags = exposedFlags(error);
      if (flags) setQuestion({ flags, overwrite });
      else setFailure(withPart(error));
    } finally {
      setPending(false);
    }
  }

  return { save, isPending, failure, question, closeQuestion: () => setQuestion(undefined) };
}

/** The message names the part of the definition that was refused: its field may be out of sight. */
function withPart(error: unknown): Failure {
  const failure = failureOf(error);
  return failure.field === "" ? failure : { ...failure, message: ConnectError.from(error).rawMessage };
}
