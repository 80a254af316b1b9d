import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { type Key, KeyService, KeyStatus } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { useState } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { useRole, useWorkspace } from "../../rpc/use-session.ts";
import { KEYS } from "../../text/en/keys.ts";
import { Button } from "../../ui/button.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Facts, Panel, Section } from "../../ui/page/panel.tsx";
import { Time } from "../../ui/time.tsx";
import { KeyCalls } from "./key-calls.tsx";
import { EditKey, RevokeKey, RotateKey } from "./key-dialogs.tsx";
import { KeyDoctor } from "./key-doctor.tsx";
import type { KeyField } from "./key-form.tsx";
import { KeyStatusBadge, KeyTools } from "./key-status.tsx";
import styles from "./keys.module.css";

const DIALOGS = { edit: EditKey, rotate: RotateKey, revoke: RevokeKey } as const;

const POLL_MS = 3_000;

interface OpenDialog {
  name: keyof typeof DIALOGS;
  field?: KeyField;
}

interface KeyPanelProps {
  keyId: string;
  onClose: () => void;
  onChanged: () => void;
}

export function KeyPanel({ keyId, onClose, onChanged }: KeyPanelProps) {
  const workspace = useWorkspace();
  const [dialog, setDialog] = useState<OpenDialog>();
  const { data, error, refetch } = useQuery(
    KeyService.method.getKey,
    { workspace, keyId },
    { refetchInterval: POLL_MS },
  );
  const key = data?.key;
  const Open = dialog && DIALOGS[dialog.name];
  const changed = () => {
    void refetch();
    onChanged();
  };
  return (
    <Panel
      title={key?.name ?? KEYS.title}
      onClose={onClose}
      actions={key && <Actions of={key} onDialog={(name) => setDialog({ name })} />}
    >
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      {key && (
        <>
          <Facts facts={factsOf(key)} />
          <Elsewhere keyId={keyId} />
          <KeyDoctor of={key} onEdit={(field) => setDialog({ name: "edit", field })} />
          <Section title={KEYS.lastCalls}>
            <KeyCalls keyId={keyId} />
          </Section>
          {Open && <Open of={key} field={dialog.field} onClose={() => setDialog(undefined)} onChanged={changed} />}
        </>
      )}
    </Panel>
  );
}

function Actions({ of, onDialog }: { of: Key; onDialog: (dialog: keyof typeof DIALOGS) => void }) {
  if (of.status === KeyStatus.REVOKED) return null;
  return (
    <>
      <Button onClick={() => onDialog("edit")}>{KEYS.edit}</Button>
      <Button onClick={() => onDialog("rotate")}>{KEYS.rotate}</Button>
      <Button kind="danger" onClick={() => onDialog("revoke")}>
        {KEYS.revoke}
      </Button>
    </>
  );
}

/** What other pages know about the key. */
function Elsewhere({ keyId }: { keyId: string }) {
  return (
    <p className={styles.links}>
      <Link to="/runs" search={{ caller: keyId }}>
        {KEYS.runs}
      </Link>
      <a href="/manage/reference" target="_blank" rel="noreferrer">
        {KEYS.reference}
      </a>
      {useRole() === "admin" && (
        <Link to="/audit" search={{ target: keyId }}>
          {KEYS.history}
        </Link>
      )}
    </p>
  );
}

function factsOf(key: Key) {
  return [
    ["Status", <KeyStatusBadge key="status" {...key} />],
    ["Prefix", <code key="prefix">{key.prefix}…</code>],
    ["Tools", <KeyTools key="tools" {...key} />],
    ["Limit", `${key.limit} calls per minute`],
    ["Networks", key.allowedNetworks.join(", ") || "anywhere"],
    ["Expires", <Time key="expires" at={key.expiresAt} exact />],
    ["Created", <Time key="created" at={key.createdAt} exact />],
    [
      "Saved",
      <span key="saved">
        <Time at={key.savedAt} /> by {key.savedBy}
      </span>,
    ],
    ["Last used", <Time key="used" at={key.lastUsedAt} />],
    ["Calls", `${key.callsLast24h} in 24 h, ${key.callsTotal} in all`],
    ["Id", <code key="id">{key.id}</code>],
    ...(key.previousSecretValidUntil
      ? [["Old secret valid until", <Time key="old" at={key.previousSecretValidUntil} exact />] as const]
      : []),
  ] as const;
}
