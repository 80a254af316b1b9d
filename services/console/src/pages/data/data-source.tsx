import { useMutation, useQuery } from "@connectrpc/connect-query";
import { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { useState } from "react";
import * as v from "valibot";
import { failureOf } from "../../rpc/errors.ts";
import { useRole, useWorkspace } from "../../rpc/use-session.ts";
import { DATA, SOURCE } from "../../text/en/tools/data.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import { Field, Form } from "../../ui/form/form.tsx";
import { Input } from "../../ui/form/input.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Status } from "../../ui/status.tsx";
import styles from "./data.module.css";

/** Where the workspace's database is, and whether it answers. */
export function DataSourceState() {
  const workspace = useWorkspace();
  const isAdmin = useRole() === "admin";
  const { data, error, refetch } = useQuery(DataSourceService.method.getDataSource, { workspace });
  const [isSetting, setSetting] = useState(false);
  const source = data?.source;
  return (
    <section aria-label={SOURCE.title} className={styles.source}>
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      <div className={styles.bar}>
        {source && <span>{SOURCE.at(source.user, source.host, source.port, source.database)}</span>}
        {data && !source && <span>{SOURCE.none}</span>}
        {isAdmin && data && <Button onClick={() => setSetting(true)}>{source ? SOURCE.replace : SOURCE.set}</Button>}
      </div>
      {isAdmin && source && <ConnectionTest readUrl={() => ""} />}
      {isSetting && <SetDataSource onClose={() => setSetting(false)} onChanged={() => void refetch()} />}
    </section>
  );
}

/** Tests the URL that `readUrl` returns, or the stored one when that is empty. */
function ConnectionTest({ readUrl }: { readUrl: (form: HTMLFormElement | null) => string }) {
  const workspace = useWorkspace();
  const test = useMutation(DataSourceService.method.testDataSource, { gcTime: 0 });
  return (
    <div className={styles.bar}>
      <Button
        pending={test.isPending}
        onClick={({ currentTarget: { form } }) => test.mutate({ workspace, url: readUrl(form) })}
      >
        {test.isPending ? SOURCE.testing : SOURCE.test}
      </Button>
      <span aria-live="polite">
        {test.error && <Status tone="bad">{failureOf(test.error).message}</Status>}
        {test.data?.error && <Status tone="bad">{test.data.error}</Status>}
        {test.data && !test.data.error && (
          <Status tone="good">{SOURCE.works(test.data.serverVersion, test.data.durationMs)}</Status>
        )}
      </span>
    </div>
  );
}

const Values = v.object({ url: v.pipe(v.string(), v.trim(), v.nonEmpty("Enter a URL.")) });

function SetDataSource({ onClose, onChanged }: { onClose: () => void; onChanged: () => void }) {
  const workspace = useWorkspace();
  const { mutateAsync, reset } = useMutation(DataSourceService.method.setDataSource, { gcTime: 0 });
  return (
    <Dialog title={SOURCE.set} onClose={onClose}>
      <Form
        schema={Values}
        submit={DATA.save}
        onCancel={onClose}
        onSubmit={async ({ url }) => {
          await mutateAsync({ workspace, url }).finally(reset);
          toast(SOURCE.saved);
          onChanged();
          onClose();
        }}
      >
        <Field name="url" label={SOURCE.url} hint={SOURCE.urlHint}>
          {(control) => <Input {...control} data-mono type="password" autoComplete="new-password" autoFocus />}
        </Field>
        <ConnectionTest readUrl={(form) => String((form && new FormData(form).get("url")) ?? "")} />
      </Form>
    </Dialog>
  );
}
