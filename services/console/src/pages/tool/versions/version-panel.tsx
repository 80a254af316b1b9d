import { useQuery } from "@connectrpc/connect-query";
import { type Tool, ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useState } from "react";
import { failureOf } from "../../../rpc/errors.ts";
import { useCanManage, useWorkspace } from "../../../rpc/use-session.ts";
import { VERSIONS } from "../../../text/en/tool-editor.ts";
import { Select } from "../../../ui/form/input.tsx";
import { FailureText } from "../../../ui/page/failure.tsx";
import { Facts, Panel } from "../../../ui/page/panel.tsx";
import { Time } from "../../../ui/time.tsx";
import { DefinitionDiff } from "../diff/definition-diff.tsx";
import { RestoreVersion } from "./restore-version.tsx";
import styles from "./versions.module.css";

const COMPARED = [
  ["current", VERSIONS.theCurrent],
  ["before", VERSIONS.theOneBefore],
] as const;

interface VersionPanelProps {
  name: string;
  version: number;
  current: Tool | undefined;
  onClose: () => void;
  onRestored: () => void;
}

export function VersionPanel({ name, version, current, onClose, onRestored }: VersionPanelProps) {
  const workspace = useWorkspace();
  const canManage = useCanManage();
  const isCurrent = current?.version === version;
  const [chosen, setChosen] = useState<string>();
  const compared = chosen ?? (isCurrent || !current ? "before" : "current");
  const { data, error, refetch } = useQuery(ToolService.method.getToolVersion, { workspace, name, version });
  const before = useQuery(
    ToolService.method.getToolVersion,
    { workspace, name, version: version - 1 },
    { enabled: compared === "before" && version > 1 },
  );
  const shown = data?.tool;
  const definition = shown?.definition ?? {};
  const other = compared === "current" ? current?.definition : version === 1 ? {} : before.data?.tool?.definition;
  return (
    <Panel
      title={VERSIONS.version(version)}
      onClose={onClose}
      actions={canManage && shown && !isCurrent && <RestoreVersion name={name} of={shown} onRestored={onRestored} />}
    >
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      {before.error && <FailureText failure={failureOf(before.error)} onRetry={() => void before.refetch()} />}
      {shown && (
        <Facts
          facts={[
            ["Saved", <Time key="at" at={shown.savedAt} exact />],
            ["By", shown.savedBy],
          ]}
        />
      )}
      {current && !isCurrent && (
        <div className={styles.compared}>
          {VERSIONS.compareWith}
          <Select aria-label={VERSIONS.compareWith} options={COMPARED} value={compared} onValue={setChosen} />
        </div>
      )}
      {current && !isCurrent && <p className={styles.dim}>{VERSIONS.legend}</p>}
      {compared === "before" && version === 1 && <p className={styles.dim}>{VERSIONS.nothingBefore}</p>}
      {shown && other && <DefinitionDiff before={other} after={definition} />}
    </Panel>
  );
}
