import { createConnectQueryKey, useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import { Role } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { useState } from "react";
import * as v from "valibot";
import { useWorkspace } from "../../rpc/use-session.ts";
import { MEMBERS, ROLE_OPTIONS } from "../../text/en/members.ts";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { Field, Form } from "../../ui/form/form.tsx";
import { Input, Select } from "../../ui/form/input.tsx";
import { LinkOnce } from "./link-once.tsx";

const Values = v.object({
  email: v.pipe(v.string(), v.trim(), v.nonEmpty("Enter an email address.")),
  role: v.pipe(v.string(), v.transform(Number)),
});

/** The link is in this component alone, until the dialog closes. */
export function InviteMember({ onClose }: { onClose: () => void }) {
  const workspace = useWorkspace();
  const client = useQueryClient();
  const create = useMutation(MemberService.method.createInvitation, { gcTime: 0 });
  const [path, setPath] = useState<string>();
  if (path !== undefined)
    return <LinkOnce title={MEMBERS.invited} text={MEMBERS.invitedText} path={path} onClose={onClose} />;
  return (
    <Dialog title={MEMBERS.inviteTitle} onClose={onClose}>
      <Form
        schema={Values}
        submit={MEMBERS.createLink}
        onCancel={onClose}
        onSubmit={async (values) => {
          const created = await create.mutateAsync({ workspace, ...values });
          create.reset();
          setPath(created.path);
          const { listInvitations: schema } = MemberService.method;
          void client.invalidateQueries({ queryKey: createConnectQueryKey({ schema, cardinality: "finite" }) });
        }}
      >
        <Field name="email" label={MEMBERS.email} hint={MEMBERS.emailHint}>
          {(control) => <Input {...control} type="email" autoFocus />}
        </Field>
        <RoleField role={Role.MEMBER} />
      </Form>
    </Dialog>
  );
}

export function RoleField({ role }: { role: Role }) {
  return (
    <Field name="role" label={MEMBERS.role} hint={MEMBERS.roleHint}>
      {(control) => <Select {...control} options={ROLE_OPTIONS} defaultValue={String(role)} />}
    </Field>
  );
}
