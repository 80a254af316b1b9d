import { createClient } from "@connectrpc/connect";
import { useQuery } from "@tanstack/react-query";
import { type GetInvitationResponse, MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import * as v from "valibot";
import { failureOf } from "../../rpc/errors.ts";
import { publicTransport } from "../../rpc/transport.ts";
import { LINKS } from "../../text/en/links.ts";
import { ROLES } from "../../text/en/members.ts";
import { Field, Form } from "../../ui/form/form.tsx";
import { Input } from "../../ui/form/input.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Card } from "./card.tsx";
import { enter, useTokenOfLink } from "./link.ts";
import { NewPassword, NewPasswordFields } from "./new-password.tsx";

const members = createClient(MemberService, publicTransport);
const Own = v.object({ password: v.pipe(v.string(), v.nonEmpty("Enter your password.")) });

/** Where the link of an invitation leads. */
export function JoinPage() {
  const token = useTokenOfLink();
  const { data, error, refetch } = useQuery({
    queryKey: ["invitation", token],
    queryFn: () => members.getInvitation({ token }),
    enabled: token !== "",
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Card title={data ? LINKS.join(data.workspace) : LINKS.joinTitle}>
      {token === "" && <p>{LINKS.noToken}</p>}
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      {data && <Invitation of={data} token={token} />}
    </Card>
  );
}

function Invitation({ of, token }: { of: GetInvitationResponse; token: string }) {
  const accept = async (password: string) => {
    const { email, workspace } = await members.acceptInvitation({ token, password });
    await enter(email, password, workspace);
  };
  return (
    <>
      <p>{LINKS.joinText(of.email, ROLES[of.role])}</p>
      <p>{of.hasPassword ? LINKS.own : LINKS.choose}</p>
      {of.hasPassword ? (
        <Form schema={Own} submit={LINKS.accept} onSubmit={({ password }) => accept(password)}>
          <Field name="password" label={LINKS.password}>
            {(control) => <Input {...control} type="password" autoComplete="current-password" autoFocus />}
          </Field>
        </Form>
      ) : (
        <Form schema={NewPassword} submit={LINKS.accept} onSubmit={({ new_password }) => accept(new_password)}>
          <NewPasswordFields autoFocus />
        </Form>
      )}
    </>
  );
}
