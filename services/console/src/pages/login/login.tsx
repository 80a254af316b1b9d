import { useEffect, useState } from "react";
import * as v from "valibot";
import { loadSession, logIn } from "../../rpc/session.ts";
import { Field, Form } from "../../ui/form/form.tsx";
import { Input } from "../../ui/form/input.tsx";
import { Card } from "./card.tsx";

const Credentials = v.object({
  email: v.pipe(v.string(), v.trim(), v.nonEmpty("Enter your email address.")),
  password: v.pipe(v.string(), v.nonEmpty("Enter your password.")),
});

/** The form alone; it also opens over a page whose session has ended. */
export function LoginForm({ email, onDone }: { email?: string; onDone: () => void }) {
  return (
    <Form
      schema={Credentials}
      submit="Log in"
      onSubmit={async (values) => {
        const refused = await logIn(values.email, values.password);
        if (refused) throw new Error(refused);
        onDone();
      }}
    >
      <Field name="email" label="Email">
        {(control) => (
          // Of a page that is open, the user stays the same: what they were doing is then done.
          <Input
            {...control}
            type="email"
            autoComplete="username"
            defaultValue={email}
            readOnly={email !== undefined}
            autoFocus={!email}
          />
        )}
      </Field>
      <Field name="password" label="Password">
        {(control) => <Input {...control} type="password" autoComplete="current-password" autoFocus={Boolean(email)} />}
      </Field>
    </Form>
  );
}

/** Only a page of this console may follow a login. */
export function nextPage(next: string | undefined): string {
  return next !== undefined && /^\/manage\/(?!login)[\w/]/.test(next) ? next : "/manage/";
}

export function LoginPage({ next }: { next: string | undefined }) {
  const [isKnown, setKnown] = useState(true);
  const goOn = () => location.replace(nextPage(next));
  // A link from another site arrives without the session's cookie, though there may be one.
  useEffect(() => {
    void loadSession().then((session) => (session ? goOn() : setKnown(false)));
  }, []);
  if (isKnown) return null;
  return (
    <Card title="Log in to Toolgate">
      <LoginForm onDone={goOn} />
    </Card>
  );
}
