import { useSearch } from "@tanstack/react-router";
import { type Assistant, AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { useCanManage, useWorkspace } from "../../../rpc/use-session.ts";
import { useList } from "../../../ui/list/use-list.ts";
import { RestoreVersion } from "../../definition/versions/restore-version.tsx";
import { VersionList } from "../../definition/versions/version-list.tsx";
import { VersionPanel } from "../../definition/versions/version-panel.tsx";
import { AssistantExposure } from "../assistant-exposure.tsx";
import type { AssistantTabProps } from "../assistant-tab.ts";
import { versionOf } from "../assistant-version.ts";
import { useSaveAssistant } from "../use-save-assistant.ts";

/** The newest 100 versions of an assistant, and one of them beside the list. */
export default function VersionsTab({ assistant, onChanged }: AssistantTabProps) {
  const workspace = useWorkspace();
  const canManage = useCanManage();
  const { name } = assistant;
  const { version: open } = useSearch({ strict: false });
  const save = useSaveAssistant(name);
  const list = useList(
    AssistantService.method.listAssistantVersions,
    { workspace, name },
    { rowsOf: (page) => page.versions, keyOf: (row) => String(row.version), isHeld: open !== undefined },
  );
  const find = (version: number) => list.rows.find((row) => row.version === version);
  const restoreOf = (shown: Assistant) => {
    const { version, definition = {} } = versionOf(shown);
    return (
      <RestoreVersion
        version={version}
        restore={async (confirmExposure) => (await save({ definition, confirmExposure }))?.version ?? 0}
        askExposure={(question) => <AssistantExposure name={name} definition={definition} {...question} />}
        onRestored={() => {
          list.refresh();
          onChanged();
        }}
      />
    );
  };
  return (
    <VersionList
      list={list}
      current={assistant.version}
      panel={(version, onClose) => {
        const [shown, before] = [find(version), find(version - 1)];
        return (
          <VersionPanel
            key={version}
            version={version}
            shown={shown && versionOf(shown)}
            current={versionOf(assistant)}
            before={before && versionOf(before).definition}
            restore={canManage && shown && restoreOf(shown)}
            onClose={onClose}
          />
        );
      }}
    />
  );
}
