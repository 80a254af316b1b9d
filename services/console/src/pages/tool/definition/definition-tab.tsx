import { useMutation } from "@connectrpc/connect-query";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useCanManage, useWorkspace } from "../../../rpc/use-session.ts";
import { FieldErrors } from "../../../ui/form/form.tsx";
import { DefinitionEditor } from "../../definition/definition-editor.tsx";
import { useDraft } from "../../definition/use-draft.ts";
import { ToolFlags } from "../../tools/tool-flags.tsx";
import { ToolExposure } from "../exposure/tool-exposure.tsx";
import type { ToolTabProps } from "../tool-tab.ts";
import { CompareTool } from "./compare-tool.tsx";
import { DefinitionForm } from "./definition-form.tsx";
import { DeleteTool } from "./delete-tool.tsx";
import { DryRun } from "./dry-run.tsx";
import { Problems } from "./problems.tsx";
import { useCheck } from "./use-check.ts";

export default function DefinitionTab({ tool, onChanged }: ToolTabProps) {
  const { name } = tool;
  const workspace = useWorkspace();
  const readOnly = !useCanManage();
  const draft = useDraft(tool);
  const check = useCheck(name, draft.definition);
  const { mutateAsync } = useMutation(ToolService.method.saveTool);
  const violations = check?.violations ?? [];
  return (
    <FieldErrors errors={errorsByField(violations)}>
      <DefinitionEditor
        newest={tool}
        draft={draft}
        save={async (save) => (await mutateAsync({ workspace, name, ...save })).tool}
        onSaved={onChanged}
        state={<ToolFlags definition={draft.definition} />}
        form={<DefinitionForm draft={draft} violations={violations} readOnly={readOnly} />}
        side={
          !readOnly && (
            <>
              <Problems check={check} broken={draft.broken} />
              <DryRun draft={draft} />
            </>
          )
        }
        compare={(onClose) => <CompareTool name={name} draft={draft.definition} onClose={onClose} />}
        remove={(onClose) => <DeleteTool name={name} onClose={onClose} />}
        askExposure={(question) => <ToolExposure tool={name} definition={draft.definition} {...question} />}
      />
    </FieldErrors>
  );
}

/** By the name of the member, or of the part of an API call. */
function errorsByField(violations: readonly { path: string; message: string }[]): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const { path, message } of violations) {
    const field = /^api\.\w+|^\w+/.exec(path)?.[0] ?? "";
    errors[field] ??= path === field ? message : `${path.slice(field.length + 1)} ${message}`;
  }
  return errors;
}
