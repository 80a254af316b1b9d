import type { JsonObject } from "@bufbuild/protobuf";
import { failureOf } from "../../rpc/errors.ts";
import { EDITOR } from "../../text/en/tools/tool-editor.ts";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { DefinitionDiff } from "./diff/definition-diff.tsx";

interface CompareDialogProps {
  /** As it is saved now, once it has been read. */
  saved: JsonObject | undefined;
  error: unknown;
  draft: JsonObject;
  onClose: () => void;
}

/** What a save would change in the definition as it is saved now. */
export function CompareDialog({ saved, error, draft, onClose }: CompareDialogProps) {
  return (
    <Dialog title={EDITOR.compareTitle} description={EDITOR.compareText} size="large" onClose={onClose}>
      {error !== null && <FailureText failure={failureOf(error)} />}
      {saved && <DefinitionDiff before={saved} after={draft} />}
    </Dialog>
  );
}
