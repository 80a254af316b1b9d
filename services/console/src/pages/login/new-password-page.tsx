import { createClient } from "@connectrpc/connect";
import { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import { publicTransport } from "../../rpc/transport.ts";
import { LINKS } from "../../text/en/links.ts";
import { Form } from "../../ui/form/form.tsx";
import { Card } from "./card.tsx";
import { enter, useTokenOfLink } from "./link.ts";
import { NewPassword, NewPasswordFields } from "./new-password.tsx";

const members = createClient(MemberService, publicTransport);

/** Where the link leads by which a member chooses a new password. */
export function NewPasswordPage() {
  const token = useTokenOfLink();
  return (
    <Card title={LINKS.resetTitle}>
      <p>{token === "" ? LINKS.noToken : LINKS.resetText}</p>
      {token !== "" && (
        <Form
          schema={NewPassword}
          submit={LINKS.save}
          onSubmit={async ({ new_password: newPassword }) => {
            const { email } = await members.resetPassword({ token, newPassword });
            await enter(email, newPassword);
          }}
        >
          <NewPasswordFields autoFocus />
        </Form>
      )}
    </Card>
  );
}
