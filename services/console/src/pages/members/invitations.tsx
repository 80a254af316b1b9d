import { useMutation, useQuery } from "@connectrpc/connect-query";
import { type Invitation, MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import { useState } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { MEMBERS, ROLES } from "../../text/en/members.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/dialog/confirm.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Part } from "../../ui/page/part.tsx";
import { Table } from "../../ui/page/table.tsx";
import { Time } from "../../ui/time.tsx";
import styles from "./members.module.css";

const POLL_MS = 3_000;

/** The open invitations, if there are any. */
export function Invitations() {
  const workspace = useWorkspace();
  const { listInvitations, withdrawInvitation } = MemberService.method;
  const { data, error, refetch } = useQuery(listInvitations, { workspace }, { refetchInterval: POLL_MS });
  const { mutateAsync } = useMutation(withdrawInvitation);
  const [withdrawn, setWithdrawn] = useState<Invitation>();
  if (error && !data) return <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />;
  if (!data?.invitations.length) return null;
  return (
    <div className={styles.invitations}>
      <Part title={MEMBERS.invitations}>
        <Table
          columns={[MEMBERS.email, MEMBERS.role, MEMBERS.expires, MEMBERS.by, MEMBERS.action]}
          rows={data.invitations.map((invitation) => ({
            key: invitation.id,
            cells: [
              invitation.email,
              ROLES[invitation.role],
              <Time key="expires" at={invitation.expiresAt} />,
              invitation.createdBy,
              <Button
                key="withdraw"
                kind="quiet"
                aria-label={`${MEMBERS.withdraw} ${invitation.email}`}
                onClick={() => setWithdrawn(invitation)}
              >
                {MEMBERS.withdraw}
              </Button>,
            ],
          }))}
        />
      </Part>
      {withdrawn && (
        <Confirm
          title={`${MEMBERS.withdraw} ${withdrawn.email}?`}
          action={MEMBERS.withdraw}
          onClose={() => setWithdrawn(undefined)}
          onConfirm={async () => {
            await mutateAsync({ workspace, invitationId: withdrawn.id });
            toast(MEMBERS.withdrawn(withdrawn.email));
            void refetch();
          }}
        >
          <p>{MEMBERS.withdrawText}</p>
        </Confirm>
      )}
    </div>
  );
}
