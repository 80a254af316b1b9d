import { Link } from "@tanstack/react-router";
import type { Member } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import { useState } from "react";
import { useSession } from "../../rpc/use-session.ts";
import { MEMBERS, ROLES } from "../../text/en/members.ts";
import { Button } from "../../ui/button.tsx";
import { Facts, Panel } from "../../ui/page/panel.tsx";
import { Time } from "../../ui/time.tsx";
import { ChangeRole, EndSessions, RemoveMember, ResetPassword } from "./member-dialogs.tsx";

const DIALOGS = { role: ChangeRole, sessions: EndSessions, password: ResetPassword, remove: RemoveMember } as const;

interface MemberPanelProps {
  of: Member;
  onClose: () => void;
  onChanged: () => void;
}

export function MemberPanel({ of, onClose, onChanged }: MemberPanelProps) {
  const [dialog, setDialog] = useState<keyof typeof DIALOGS>();
  const session = useSession();
  const Dialog = dialog && DIALOGS[dialog];
  return (
    <Panel
      title={of.email}
      onClose={onClose}
      actions={
        <>
          <Button onClick={() => setDialog("role")}>{MEMBERS.changeRole}</Button>
          <Button onClick={() => setDialog("sessions")}>{MEMBERS.signOut}</Button>
          {of.email !== session.email && <Button onClick={() => setDialog("password")}>{MEMBERS.resetPassword}</Button>}
          <Button kind="danger" onClick={() => setDialog("remove")}>
            {MEMBERS.remove}
          </Button>
        </>
      }
    >
      <Facts
        facts={[
          [MEMBERS.role, ROLES[of.role]],
          [MEMBERS.sessions, of.sessions],
          [MEMBERS.lastUsed, <Time key="used" at={of.lastUsedAt} never="–" />],
        ]}
      />
      <Link to="/audit" search={{ actor: of.email }}>
        {MEMBERS.history}
      </Link>
      {Dialog && <Dialog of={of} onClose={() => setDialog(undefined)} onChanged={onChanged} />}
    </Panel>
  );
}
