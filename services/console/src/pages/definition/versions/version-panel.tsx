import type { JsonObject } from "@bufbuild/protobuf";
import { type ReactNode, useState } from "react";
import { VERSIONS } from "../../../text/en/tools/tool-editor.ts";
import { Select } from "../../../ui/form/input.tsx";
import { Facts, Panel } from "../../../ui/page/panel.tsx";
import { Time } from "../../../ui/time.tsx";
import { DefinitionDiff } from "../diff/definition-diff.tsx";
import type { Versioned } from "../versioned.ts";
import styles from "./versions.module.css";

const COMPARED = [
  ["current", VERSIONS.theCurrent],
  ["before", VERSIONS.theOneBefore],
] as const;

interface VersionPanelProps {
  version: number;
  /** The version itself, once it has been read. */
  shown: Versioned | undefined;
  /** The newest version; undefined for something that was deleted. */
  current: Versioned | undefined;
  /** The definition of the version before it, once it has been read; of none for the first one. */
  before: JsonObject | undefined;
  /** Restores the version, for those who may. */
  restore: ReactNode;
  onClose: () => void;
  /** What could not be read. */
  children?: ReactNode;
}

export function VersionPanel({ version, shown, current, before, restore, onClose, children }: VersionPanelProps) {
  const isCurrent = current?.version === version;
  const [chosen, setChosen] = useState<string>();
  const compared = chosen ?? (isCurrent || !current ? "before" : "current");
  const other = compared === "current" ? current?.definition : version === 1 ? {} : before;
  return (
    <Panel title={VERSIONS.version(version)} onClose={onClose} actions={shown && !isCurrent && restore}>
      {children}
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
      {shown && other && <DefinitionDiff before={other} after={shown.definition ?? {}} />}
    </Panel>
  );
}
