import { Code, ConnectError } from "@connectrpc/connect";
import { callUnaryMethod, useMutation, useQuery, useTransport } from "@connectrpc/connect-query";
import { KeyService, KeyStatus } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useState } from "react";
import { failureOf } from "../../../rpc/errors.ts";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { API_TAB, filled, reachOfRelease } from "../../../text/en/api-tab.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { FailureText } from "../../../ui/failure.tsx";
import { toast } from "../../../ui/toast.tsx";
import type { ToolTabProps } from "../tool-tab.ts";
import styles from "./api-tab.module.css";

/** [BLD-29] Shows the change that releases the tool; it is made only after the question. */
export function ReleaseProposal({ tool, onChanged }: ToolTabProps) {
  const [isAsking, setAsking] = useState(false);
  const { external_api = false } = tool.definition ?? {};
  return (
    <section aria-label={API_TAB.propose} className={styles.change}>
      <h3>{API_TAB.propose}</h3>
      <p className={styles.dim}>{filled(API_TAB.proposeText, { next: tool.version + 1 })}</p>
      <code>
        external_api: <del>{JSON.stringify(external_api)}</del> → <ins>true</ins>
      </code>
      <Button kind="primary" onClick={() => setAsking(true)}>
        {API_TAB.release}
      </Button>
      {isAsking && <ReleaseQuestion tool={tool} onChanged={onChanged} onClose={() => setAsking(false)} />}
    </section>
  );
}

/** [EXPO-2] [EXPO-4] */
function ReleaseQuestion({ tool, onChanged, onClose }: ToolTabProps & { onClose: () => void }) {
  const workspace = useWorkspace();
  const transport = useTransport();
  const { name, version, definition } = tool;
  const active = { workspace, status: KeyStatus.ACTIVE, pageSize: 100 };
  const all = useQuery(KeyService.method.listKeys, active);
  const listing = useQuery(KeyService.method.listKeys, { ...active, tool: name });
  const save = useMutation(ToolService.method.saveTool);
  const error = all.error ?? listing.error;
  const confirm = async () => {
    const { tool: now } = await callUnaryMethod(transport, ToolService.method.getTool, { workspace, name });
    if (now?.version !== version) {
      onChanged();
      const message = filled(API_TAB.savedMeanwhile, { version: now?.version ?? "" });
      throw new ConnectError(message, Code.FailedPrecondition);
    }
    await save.mutateAsync({
      workspace,
      name,
      definition: { ...definition, external_api: true },
      confirmExposure: true,
    });
    toast(filled(API_TAB.released, { tool: name }));
    onChanged();
  };
  if (error) return <FailureText failure={failureOf(error)} />;
  if (!all.data || !listing.data) return null;
  return (
    <Confirm
      title={filled(API_TAB.releaseQuestion, { tool: name })}
      action={API_TAB.release}
      kind="primary"
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{reachOfRelease(all.data.keys.length, all.data.nextPageToken !== "", listing.data.keys.length)}</p>
    </Confirm>
  );
}
