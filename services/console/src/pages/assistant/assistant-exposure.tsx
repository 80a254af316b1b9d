import type { JsonObject } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { useWorkspace } from "../../rpc/use-session.ts";
import { ASSISTANT_EXPOSURE, ASSISTANT_FLAGS } from "../../text/en/assistants/assistants.ts";
import { EXPOSURE } from "../../text/en/tools/tool-editor.ts";
import styles from "../definition/exposure.module.css";
import { ExposureDialog, type ExposureQuestion } from "../definition/exposure-dialog.tsx";
import { Names } from "../definition/names.tsx";
import { namesIn } from "./assistant-version.ts";

interface AssistantExposureProps extends ExposureQuestion {
  name: string;
  /** What would be saved. */
  definition: JsonObject;
}

/** [EXPO-2] Says which hooks may then run the assistant, and with which tools. */
export function AssistantExposure({ name, definition, ...question }: AssistantExposureProps) {
  const workspace = useWorkspace();
  const { data, isError } = useQuery(HookService.method.listHooks, { workspace }, { gcTime: 0, staleTime: 0 });
  const hooks = data?.hooks
    .filter(({ active, target }) => active && target?.target.case === "assistant" && target.target.value === name)
    .map((hook) => hook.name);
  const writes = definition.inbound_hook_write === true;
  const tools = namesIn(definition, "tools");
  const labelOf = (flag: string) => ASSISTANT_FLAGS[flag as keyof typeof ASSISTANT_FLAGS]?.label;
  return (
    <ExposureDialog name={name} labelOf={labelOf} {...question}>
      {!hooks && <p className={styles.dim}>{isError ? EXPOSURE.uncounted : EXPOSURE.counting}</p>}
      {hooks && (
        <div>
          <p>{hooks.length === 0 ? EXPOSURE.noHooks(name) : EXPOSURE.hooks(name, hooks.length, writes)}</p>
          <Names names={hooks} />
        </div>
      )}
      <div>
        <p>{tools.length === 0 ? ASSISTANT_EXPOSURE.noTools : ASSISTANT_EXPOSURE.tools(writes)}</p>
        <Names names={tools} />
      </div>
      {!writes && <p className={styles.dim}>{EXPOSURE.sends}</p>}
    </ExposureDialog>
  );
}
