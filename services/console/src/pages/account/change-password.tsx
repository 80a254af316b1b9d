import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as v from "valibot";
import { changePassword } from "../../rpc/own-sessions.ts";
import { useSession } from "../../rpc/use-session.ts";
import { ACCOUNT } from "../../text/en/account.ts";
import { toast } from "../../ui/dialog/toast.tsx";
import { Field, Form } from "../../ui/form/form.tsx";
import { Input } from "../../ui/form/input.tsx";
import { NewPassword, NewPasswordFields } from "../login/new-password.tsx";
import { OWN_SESSIONS } from "./own-sessions.tsx";

const Values = v.intersect([
  v.object({ current: v.pipe(v.string(), v.nonEmpty("Enter your current password.")) }),
  NewPassword,
]);

export function ChangePassword() {
  const { email } = useSession();
  const client = useQueryClient();
  // A new form: the passwords are gone from the page.
  const [times, setTimes] = useState(0);
  return (
    <Form
      key={times}
      schema={Values}
      submit={ACCOUNT.change}
      onSubmit={async ({ current, new_password }) => {
        await changePassword(current, new_password);
        toast(ACCOUNT.changed);
        setTimes(times + 1);
        void client.invalidateQueries({ queryKey: OWN_SESSIONS });
      }}
    >
      {/* For the browser's list of passwords. */}
      <input type="hidden" name="email" autoComplete="username" defaultValue={email} />
      <Field name="current" label={ACCOUNT.current}>
        {(control) => <Input {...control} type="password" autoComplete="current-password" />}
      </Field>
      <NewPasswordFields />
    </Form>
  );
}
