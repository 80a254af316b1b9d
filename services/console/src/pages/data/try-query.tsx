import { useMutation } from "@connectrpc/connect-query";
import { DataSourceService, type DryRunQueryResponse } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { useState } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { QUERIES } from "../../text/en/tools/data.ts";
import { Button } from "../../ui/button.tsx";
import { readJsonObject } from "../../ui/code/read-json.ts";
import { Field, FieldErrors } from "../../ui/form/form.tsx";
import { TextArea } from "../../ui/form/input.tsx";
import { Icon } from "../../ui/icon.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Status } from "../../ui/status.tsx";
import { CellTable } from "./cell-table.tsx";
import styles from "./data.module.css";

const MAX_SHOWN = 50;
/** The name that an unsaved query is tried under. */
const DRAFT = "draft";

/** Tries the statement in the form around it, saved or not. */
export function TryQuery() {
  const workspace = useWorkspace();
  const run = useMutation(DataSourceService.method.dryRunQuery, { gcTime: 0 });
  const [parametersFault, setParametersFault] = useState("");
  const start = (form: HTMLFormElement) => {
    const fields = new FormData(form);
    const text = (name: string) => String(fields.get(name) ?? "").trim();
    const { value: parameters, wrong = "" } = readJsonObject(text("parameters") || "{}");
    setParametersFault(wrong);
    const query = { name: text("name") || DRAFT, sql: text("sql"), mode: Number(text("mode")) };
    if (parameters) run.mutate({ workspace, query, parameters });
  };
  return (
    <>
      <FieldErrors errors={{ parameters: parametersFault }}>
        <Field name="parameters" label={QUERIES.parameters} hint={QUERIES.parametersHint}>
          {(control) => <TextArea {...control} data-mono rows={2} placeholder="{}" />}
        </Field>
      </FieldErrors>
      <div className={styles.bar}>
        <Button pending={run.isPending} onClick={({ currentTarget: { form } }) => form && start(form)}>
          <Icon name="run" />
          {run.isPending ? QUERIES.running : QUERIES.dryRun}
        </Button>
        <span className={styles.dim}>{QUERIES.dryRunText}</span>
      </div>
      <div aria-live="polite">
        {run.error && <FailureText failure={failureOf(run.error)} />}
        {run.data && <Outcome of={run.data} />}
      </div>
    </>
  );
}

function Outcome({ of: { error, rowsJson, rowCount, durationMs } }: { of: DryRunQueryResponse }) {
  if (error) return <Status tone="bad">{error}</Status>;
  const rows: Record<string, unknown>[] = JSON.parse(rowsJson);
  const columns = Object.keys(rows[0] ?? {});
  return (
    <>
      <Status tone="good">{QUERIES.rows(rowCount, durationMs)}</Status>
      {rows.length > MAX_SHOWN && <span className={styles.dim}> {QUERIES.firstRows(MAX_SHOWN)}</span>}
      {columns.length > 0 && (
        <CellTable
          label={QUERIES.dryRun}
          columns={columns}
          rows={rows.slice(0, MAX_SHOWN).map((row) => columns.map((column) => row[column]))}
        />
      )}
    </>
  );
}
