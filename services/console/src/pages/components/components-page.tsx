import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useState } from "react";
import * as v from "valibot";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/code/copy.tsx";
import { Confirm } from "../../ui/dialog/confirm.tsx";
import { SecretOnce } from "../../ui/dialog/secret-once.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import { Field, Form } from "../../ui/form/form.tsx";
import { Checkbox, Input, Select, TextArea } from "../../ui/form/input.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Page } from "../../ui/page/page.tsx";
import { Facts } from "../../ui/page/panel.tsx";
import { Part } from "../../ui/page/part.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import styles from "./components-page.module.css";

const Values = v.object({ email: v.pipe(v.string(), v.nonEmpty("Enter an email address.")) });
const FAILURE = { field: "", message: "The server said why.", requestId: "4f1c", isConflict: false };
const CONFLICT = new Date("2026-03-29T00:30:00Z");

/** Every component in each of its states, for those who change one. It is in no navigation. */
export function ComponentsPage() {
  const [open, setOpen] = useState<"confirm" | "secret">();
  const close = () => setOpen(undefined);
  return (
    <Page title="Components">
      <div className={styles.sections}>
        <Part title="Buttons">
          <div className={styles.row}>
            <Button kind="primary">Primary</Button>
            <Button>Plain</Button>
            <Button kind="quiet">Quiet</Button>
            <Button kind="danger">Danger</Button>
            <Button pending>Pending</Button>
            <Button disabled>Disabled</Button>
            <CopyButton text="copied" />
            <Button onClick={() => toast("It is done")}>Toast</Button>
            <Button onClick={() => setOpen("confirm")}>Question</Button>
            <Button onClick={() => setOpen("secret")}>Secret</Button>
          </div>
        </Part>
        <Part title="Statuses">
          <div className={styles.row}>
            <Status tone="good">Good</Status>
            <Status tone="warn">Waiting</Status>
            <Status tone="bad">Failed</Status>
            <Status tone="dim">Off</Status>
          </div>
        </Part>
        <Part title="A form">
          <Form schema={Values} submit="Save" onSubmit={() => Promise.reject(new Error("The server refused it."))}>
            <Field name="email" label="Text" hint="What it is for.">
              {(control) => <Input {...control} />}
            </Field>
            <Field name="area" label="Long text">
              {(control) => <TextArea {...control} data-mono defaultValue="one line" />}
            </Field>
            <Field name="choice" label="Choice">
              {(control) => <Select {...control} options={[["one", "One"]]} />}
            </Field>
            <Checkbox label="A choice that is on or off" defaultChecked />
          </Form>
        </Part>
        <Part title="Facts and failures">
          <Facts
            facts={[
              ["Name", "Acme"],
              ["A day without one of its hours", <Time key="time" at={timestampFromDate(CONFLICT)} exact />],
              ["Never", <Time key="never" at={undefined} />],
            ]}
          />
          <FailureText failure={FAILURE} onRetry={() => {}} />
        </Part>
      </div>
      {open === "confirm" && (
        <Confirm title="Delete it?" action="Delete" onConfirm={async () => {}} onClose={close}>
          <p>It cannot be undone.</p>
        </Confirm>
      )}
      {open === "secret" && (
        <SecretOnce
          title="Made"
          text="Shown only now."
          secret="not a secret"
          variable="NAME"
          fileName="a.txt"
          onClose={close}
        />
      )}
    </Page>
  );
}
