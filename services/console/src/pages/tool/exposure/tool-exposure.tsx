import type { JsonObject } from "@bufbuild/protobuf";
import type { ReactNode } from "react";
import { EXPOSURE } from "../../../text/en/tools/tool-editor.ts";
import { FLAGS } from "../../../text/en/tools/tools.ts";
import styles from "../../definition/exposure.module.css";
import { ExposureDialog, type ExposureQuestion } from "../../definition/exposure-dialog.tsx";
import { Names } from "../../definition/names.tsx";
import { type Callers, useCallers } from "./use-callers.ts";

interface ToolExposureProps extends ExposureQuestion {
  tool: string;
  /** What would be saved. */
  definition: JsonObject;
}

export function ToolExposure({ tool, definition, ...question }: ToolExposureProps) {
  return (
    <ExposureDialog name={tool} labelOf={(flag) => FLAGS[flag]?.label} {...question}>
      <WhoMayCall tool={tool} definition={definition} />
    </ExposureDialog>
  );
}

/** Who may call a tool with this definition. */
export function WhoMayCall({ tool, definition }: { tool: string; definition: JsonObject }) {
  const { callers, hasFailed } = useCallers(tool);
  if (callers) return <Consequences tool={tool} definition={definition} callers={callers} />;
  return <p className={styles.dim}>{hasFailed ? EXPOSURE.uncounted : EXPOSURE.counting}</p>;
}

function Consequences({ tool, definition, callers }: { tool: string; definition: JsonObject; callers: Callers }) {
  const { keys, hasMoreKeys, hooks } = callers;
  const isSet = (flag: string) => definition[flag] === true;
  const keyWrites = isSet("external_api_write");
  const hookWrites = keyWrites || isSet("inbound_hook_write");
  const parts: ReactNode[] = [];
  if (isSet("external_api")) {
    const text =
      keys.length === 0 ? EXPOSURE.noKeys(tool, keyWrites) : EXPOSURE.keys(tool, keys.length, hasMoreKeys, keyWrites);
    parts.push(<Who key="keys" text={text} names={keys} />);
  } else parts.push(<p key="keys">{EXPOSURE.noRelease}</p>);
  if (isSet("external_api") || isSet("inbound_hook")) {
    const text = hooks.length === 0 ? EXPOSURE.noHooks(tool) : EXPOSURE.hooks(tool, hooks.length, hookWrites);
    parts.push(<Who key="hooks" text={text} names={hooks} />);
  }
  if (isSet("public_api")) parts.push(<p key="public">{EXPOSURE.isPublic(tool)}</p>);
  if (definition.async) parts.push(<p key="async">{EXPOSURE.isAsync}</p>);
  if (!keyWrites || !hookWrites) {
    parts.push(
      <p key="sends" className={styles.dim}>
        {EXPOSURE.sends}
      </p>,
    );
  }
  return parts;
}

function Who({ text, names }: { text: string; names: readonly string[] }) {
  return (
    <div>
      <p>{text}</p>
      <Names names={names} />
    </div>
  );
}
