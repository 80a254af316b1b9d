import { useMutation } from "@connectrpc/connect-query";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useState } from "react";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { API_TAB } from "../../../text/en/api-tab.ts";
import { Button } from "../../../ui/button.tsx";
import { toast } from "../../../ui/dialog/toast.tsx";
import { ToolExposure } from "../exposure/tool-exposure.tsx";
import type { ToolTabProps } from "../tool-tab.ts";
import styles from "./api-tab.module.css";

/** [BLD-29] Shows the change that releases the tool; it is made only after the question. */
export function ReleaseProposal({ tool, onChanged }: ToolTabProps) {
  const workspace = useWorkspace();
  const save = useMutation(ToolService.method.saveTool);
  const [isAsking, setAsking] = useState(false);
  const { name, version } = tool;
  const { external_api = false } = tool.definition ?? {};
  const definition = { ...tool.definition, external_api: true };
  return (
    <section aria-label={API_TAB.propose} className={styles.change}>
      <h3>{API_TAB.propose}</h3>
      <p className={styles.dim}>{API_TAB.proposeText(version + 1)}</p>
      <code>
        external_api: <del>{JSON.stringify(external_api)}</del> → <ins>true</ins>
      </code>
      <Button kind="primary" onClick={() => setAsking(true)}>
        {API_TAB.release}
      </Button>
      {isAsking && (
        <ToolExposure
          tool={name}
          definition={definition}
          flags={["external_api"]}
          onConfirm={async () => {
            await save.mutateAsync({ workspace, name, definition, confirmExposure: true, expectedVersion: version });
            toast(API_TAB.released(name));
          }}
          onClose={() => {
            setAsking(false);
            // Released, or saved by somebody else meanwhile.
            onChanged();
          }}
        />
      )}
    </section>
  );
}
