import { useMutation } from "@connectrpc/connect-query";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useState } from "react";
import { failureOf } from "../../../rpc/errors.ts";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { DRY_RUN } from "../../../text/en/tools/tool-editor.ts";
import { Button } from "../../../ui/button.tsx";
import { CodeEditor } from "../../../ui/code/code-editor.tsx";
import { readJsonObject } from "../../../ui/code/read-json.ts";
import { Icon } from "../../../ui/icon.tsx";
import { FailureText } from "../../../ui/page/failure.tsx";
import { Part } from "../../../ui/page/part.tsx";
import { EditorField } from "../../definition/editor-field.tsx";
import type { Draft } from "../../definition/use-draft.ts";
import { DryRunOutcome } from "./dry-run-outcome.tsx";
import styles from "./tool-definition.module.css";

/** Tries what is in the editor, saved or not. */
export function DryRun({ draft }: { draft: Draft }) {
  const workspace = useWorkspace();
  const run = useMutation(ToolService.method.dryRun, { gcTime: 0 });
  const [typed, setTyped] = useState<string>();
  // Until they are typed, they are the example arguments.
  const text = typed ?? JSON.stringify(draft.definition.args_fixture ?? {}, null, 2);
  const { value: args, wrong } = readJsonObject(text.trim() || "{}");
  const isBroken = Object.keys(draft.broken).length > 0;
  const start = () => {
    if (!args || isBroken) return;
    // What is saved runs as it is, so that the log names its version.
    const isDraft = draft.isChanged || draft.base.version === 0;
    run.mutate({ workspace, tool: draft.base.name, args, ...(isDraft && { definition: draft.definition }) });
  };
  return (
    <Part title={DRY_RUN.title}>
      <p className={styles.dim}>{DRY_RUN.text}</p>
      <EditorField label={DRY_RUN.args} error={wrong}>
        <CodeEditor label={DRY_RUN.args} value={text} onValue={setTyped} language="json" />
      </EditorField>
      <div>
        <Button disabled={!args || isBroken} pending={run.isPending} onClick={start}>
          <Icon name="run" />
          {run.isPending ? DRY_RUN.running : DRY_RUN.run}
        </Button>
      </div>
      <div aria-live="polite" className={styles.outcome}>
        {run.error && <FailureText failure={failureOf(run.error)} />}
        {run.data && <DryRunOutcome of={run.data} />}
      </div>
    </Part>
  );
}
