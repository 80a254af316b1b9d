import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Failure, failureOf } from "../../rpc/errors.ts";
import { endOtherSessions, endOwnSession, listOwnSessions, type OwnSession } from "../../rpc/own-sessions.ts";
import { ACCOUNT } from "../../text/en/account.ts";
import { Button } from "../../ui/button.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Table } from "../../ui/page/table.tsx";
import { localTime, Time } from "../../ui/time.tsx";
import styles from "./account.module.css";
import { deviceName } from "./device-name.ts";

export const OWN_SESSIONS = ["own sessions"];

const nameOf = ({ kind, device }: OwnSession) => (kind === "jwt" ? ACCOUNT.program : deviceName(device));

export function OwnSessions() {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({ queryKey: OWN_SESSIONS, queryFn: listOwnSessions });
  const [failure, setFailure] = useState<Failure>();
  const end = async (call: () => Promise<unknown>, done: string) => {
    setFailure(undefined);
    try {
      await call();
      toast(done);
    } catch (refused) {
      setFailure(failureOf(refused));
    }
    await client.invalidateQueries({ queryKey: OWN_SESSIONS });
  };
  const shown = failure ?? (error ? failureOf(error) : undefined);
  return (
    <>
      <p className={styles.dim}>{ACCOUNT.sessionsText}</p>
      {shown && <FailureText failure={shown} onRetry={() => void refetch()} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div role="region" aria-label={ACCOUNT.open} tabIndex={0} className={styles.table}>
        {data && <Sessions of={data} onEnd={(id) => end(() => endOwnSession(id), ACCOUNT.ended)} />}
      </div>
      {data && data.length > 1 && (
        <div>
          <Button onClick={() => end(endOtherSessions, ACCOUNT.othersEnded)}>{ACCOUNT.endOthers}</Button>
        </div>
      )}
    </>
  );
}

function Sessions({ of, onEnd }: { of: readonly OwnSession[]; onEnd: (id: string) => void }) {
  const timeOf = (iso: string) => <Time at={timestampFromDate(new Date(iso))} />;
  return (
    <Table
      columns={[ACCOUNT.device, ACCOUNT.address, ACCOUNT.started, ACCOUNT.lastUsed, ACCOUNT.action]}
      rows={of.map((session) => ({
        key: session.id,
        cells: [
          <span key="device" title={session.device}>
            {nameOf(session)} {session.is_current && <strong>({ACCOUNT.thisDevice})</strong>}
          </span>,
          session.address,
          timeOf(session.started_at),
          timeOf(session.last_used_at),
          !session.is_current && (
            <Button
              key="end"
              kind="quiet"
              aria-label={ACCOUNT.endOf(nameOf(session), localTime(new Date(session.started_at)))}
              onClick={() => onEnd(session.id)}
            >
              {ACCOUNT.end}
            </Button>
          ),
        ],
      }))}
    />
  );
}
