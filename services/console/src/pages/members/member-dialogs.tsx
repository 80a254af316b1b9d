import { useMutation } from "@connectrpc/connect-query";
import { type Member, MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import type { Role } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { useState } from "react";
import * as v from "valibot";
import { loadSession } from "../../rpc/session.ts";
import { useSession, useWorkspace } from "../../rpc/use-session.ts";
import { MEMBERS, ROLES } from "../../text/en/members.ts";
import { Confirm } from "../../ui/dialog/confirm.tsx";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import { Form } from "../../ui/form/form.tsx";
import { RoleField } from "./invite-member.tsx";
import { LinkOnce } from "./link-once.tsx";

interface MemberDialogProps {
  of: Member;
  onClose: () => void;
  onChanged: () => void;
}

const Values = v.object({
  role: v.pipe(
    v.string(),
    v.transform((role): Role => Number(role)),
  ),
});

export function ChangeRole({ of: { userId, email, role: before }, onClose, onChanged }: MemberDialogProps) {
  const workspace = useWorkspace();
  const session = useSession();
  const { mutateAsync } = useMutation(MemberService.method.changeRole);
  return (
    <Dialog title={`${MEMBERS.changeRole}: ${email}`} description={MEMBERS.changeText} onClose={onClose}>
      <Form
        schema={Values}
        submit={MEMBERS.save}
        onCancel={onClose}
        onSubmit={async ({ role }) => {
          await mutateAsync({ workspace, userId, role });
          toast(MEMBERS.changed(email, ROLES[role]));
          onChanged();
          onClose();
          if (email === session.email) await loadSession();
        }}
      >
        <RoleField role={before} />
      </Form>
    </Dialog>
  );
}

export function EndSessions({ of: { userId, email }, onClose, onChanged }: MemberDialogProps) {
  const workspace = useWorkspace();
  const { mutateAsync } = useMutation(MemberService.method.endMemberSessions);
  return (
    <Confirm
      title={MEMBERS.signOutTitle(email)}
      action={MEMBERS.signOut}
      onClose={onClose}
      onConfirm={async () => {
        await mutateAsync({ workspace, userId });
        toast(MEMBERS.signedOut(email));
        onChanged();
      }}
    >
      <p>{MEMBERS.signOutText}</p>
    </Confirm>
  );
}

/** The link is in this component alone, until the dialog closes. */
export function ResetPassword({ of: { userId, email }, onClose }: MemberDialogProps) {
  const workspace = useWorkspace();
  const create = useMutation(MemberService.method.createPasswordLink, { gcTime: 0 });
  const [path, setPath] = useState<string>();
  if (path !== undefined)
    return <LinkOnce title={MEMBERS.resetLink} text={MEMBERS.resetLinkText} path={path} onClose={onClose} />;
  return (
    <Dialog title={`${MEMBERS.resetPassword}: ${email}`} description={MEMBERS.resetText} onClose={onClose}>
      <Form
        schema={v.object({})}
        submit={MEMBERS.createLink}
        onCancel={onClose}
        onSubmit={async () => {
          const created = await create.mutateAsync({ workspace, userId });
          create.reset();
          setPath(created.path);
        }}
      >
        {null}
      </Form>
    </Dialog>
  );
}

export function RemoveMember({ of: { userId, email }, onClose, onChanged }: MemberDialogProps) {
  const workspace = useWorkspace();
  const { mutateAsync } = useMutation(MemberService.method.removeMember);
  return (
    <Confirm
      title={MEMBERS.removeTitle(email)}
      action={MEMBERS.remove}
      onClose={onClose}
      onConfirm={async () => {
        await mutateAsync({ workspace, userId });
        toast(MEMBERS.removed(email));
        onChanged();
      }}
    >
      <p>{MEMBERS.removeText}</p>
    </Confirm>
  );
}
