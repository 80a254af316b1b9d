import { useQuery } from "@connectrpc/connect-query";
import { type Hook, HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { useState } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { HOOKS } from "../../text/en/webhooks/hooks.ts";
import { FailureText } from "../../ui/page/failure.tsx";
import { Facts, Panel, Section } from "../../ui/page/panel.tsx";
import { type DialogName, HookActions } from "./hook-actions.tsx";
import { HookCalls } from "./hook-calls.tsx";
import { EditHook, RotateHook } from "./hook-dialogs.tsx";
import { factsOf, HookPointers } from "./hook-facts.tsx";
import { DeactivateHook, DeleteHook } from "./hook-questions.tsx";
import { isWaiting } from "./hook-status.tsx";
import styles from "./hooks.module.css";
import { MappingDialog } from "./mapping/mapping-dialog.tsx";

const DIALOGS = {
  edit: EditHook,
  arguments: MappingDialog,
  rotate: RotateHook,
  deactivate: DeactivateHook,
  delete: DeleteHook,
} as const satisfies Record<DialogName, unknown>;
const POLL_MS = 3_000;
/** While somebody watches for the first call. */
const WAITING_POLL_MS = 1_000;

interface HookPanelProps {
  hookId: bigint;
  onClose: () => void;
  onChanged: () => void;
}

export function HookPanel({ hookId, onClose, onChanged }: HookPanelProps) {
  const workspace = useWorkspace();
  const [dialog, setDialog] = useState<DialogName>();
  const { data, error, refetch } = useQuery(
    HookService.method.getHook,
    { workspace, hookId },
    {
      refetchInterval: ({ state }) => (state.data?.hook && isWaiting(state.data.hook) ? WAITING_POLL_MS : POLL_MS),
    },
  );
  const hook = data?.hook;
  const Open = dialog && DIALOGS[dialog];
  const changed = () => {
    void refetch();
    onChanged();
  };
  return (
    <Panel
      title={hook?.name ?? HOOKS.title}
      onClose={onClose}
      actions={hook && <HookActions of={hook} onDialog={setDialog} onChanged={changed} />}
    >
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      {hook && (
        <>
          <FirstCall of={hook} />
          <Facts facts={factsOf(hook)} />
          <HookPointers of={hook} />
          <Section title={HOOKS.lastCalls}>
            <HookCalls hookId={hook.id} />
          </Section>
          {Open && (
            <Open
              of={hook}
              onClose={() => setDialog(undefined)}
              onChanged={changed}
              onDeleted={() => {
                onChanged();
                onClose();
              }}
            />
          )}
        </>
      )}
    </Panel>
  );
}

/** Turns live while the reader watches. */
function FirstCall({ of }: { of: Hook }) {
  const [wasWaiting] = useState(() => isWaiting(of));
  if (!of.active || !wasWaiting) return null;
  return (
    <div role="status" className={styles.first} data-live={!isWaiting(of)}>
      <strong>{isWaiting(of) ? HOOKS.waiting : HOOKS.live}</strong>
      {isWaiting(of) && <p>{HOOKS.waitingText}</p>}
    </div>
  );
}
