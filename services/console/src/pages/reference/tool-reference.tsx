import { type DescribedTool, EFFECTS } from "@toolgate/api-examples/described-tool";
import { exampleCall } from "@toolgate/api-examples/example-call";
import type { RefObject } from "react";
import { REFERENCE } from "../../text/en/reference.ts";
import { Responses } from "../tool/api/reference.tsx";
import { Request } from "../tool/api/request.tsx";
import { TryOut } from "../tool/api/try-out.tsx";
import styles from "./reference.module.css";

interface ToolReferenceProps {
  tool: DescribedTool;
  keyField: RefObject<HTMLInputElement | null>;
}

/** How a program calls one tool. */
export function ToolReference({ tool, keyField }: ToolReferenceProps) {
  const { name, effect, example, result } = tool;
  const call = exampleCall(tool, location.origin);
  const [mayWrite, readOnly] = [effect === EFFECTS.writes, effect === EFFECTS.reads];
  return (
    <article aria-label={name} className={styles.tool}>
      <h2>{name}</h2>
      <Request
        effect={{ mayWrite, readOnly }}
        described={tool}
        call={call}
        source={example === undefined ? REFERENCE.noExample : REFERENCE.example}
      />
      <TryOut call={call} mayWrite={mayWrite} keyField={keyField} />
      <Responses described={tool} about={result.properties === undefined ? REFERENCE.resultOpen : REFERENCE.result} />
    </article>
  );
}
