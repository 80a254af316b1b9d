import { toJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { useState } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { SHEETS } from "../../text/en/tools/data.ts";
import { Field } from "../../ui/form/form.tsx";
import { Input } from "../../ui/form/input.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { FailureText } from "../../ui/page/failure.tsx";
import { useSettled } from "../../ui/use-settled.ts";
import { CellTable } from "./cell-table.tsx";
import { NamedPage, type NamedProps } from "./named-page.tsx";
import { NamedPanel } from "./named-panel.tsx";

const START = /^([A-Z]+)([0-9]+)/i;
const LETTERS = 26;
const TYPING_MS = 400;

export function SheetsPage() {
  const workspace = useWorkspace();
  const list = useList(
    DataSourceService.method.listSheets,
    { workspace },
    { rowsOf: (page) => page.names, keyOf: (name) => name },
  );
  return (
    <NamedPage
      text={SHEETS}
      list={list}
      columns={[]}
      panel={(name, panel) => <SheetPanel key={name} name={name} {...panel} />}
    />
  );
}

function SheetPanel({ name, ...panel }: { name: string } & NamedProps) {
  const workspace = useWorkspace();
  const { mutateAsync } = useMutation(DataSourceService.method.deleteSheet);
  const [typed, setTyped] = useState("");
  const range = useSettled(typed, TYPING_MS);
  const { data, error } = useQuery(DataSourceService.method.readSheet, { workspace, name, range }, { retry: false });
  const read = data?.values ? toJson(ListValueSchema, data.values) : [];
  const rows = (Array.isArray(read) ? read : []).map((row) => (Array.isArray(row) ? row : []));
  const [, letters = "A", firstRow = "1"] = START.exec(range) ?? [];
  const width = Math.max(0, ...rows.map((row) => row.length));
  return (
    <NamedPanel
      name={name}
      remove={{ text: SHEETS.deleteText, call: () => mutateAsync({ workspace, name }) }}
      {...panel}
    >
      <Field name="range" label={SHEETS.range} hint={SHEETS.rangeHint}>
        {(control) => <Input {...control} data-mono value={typed} onChange={({ target }) => setTyped(target.value)} />}
      </Field>
      {error && <FailureText failure={failureOf(error)} />}
      {data && width === 0 && <p>{SHEETS.nothing}</p>}
      {width > 0 && (
        <CellTable
          label={name}
          columns={Array.from({ length: width }, (_, index) => lettersOf(numberOf(letters) + index))}
          rows={rows}
          firstRow={Number(firstRow)}
        />
      )}
    </NamedPanel>
  );
}

/** The number of a column, from 1 for A. */
function numberOf(letters: string): number {
  return [...letters.toUpperCase()].reduce((sum, letter) => sum * LETTERS + letter.charCodeAt(0) - 64, 0);
}

function lettersOf(number: number): string {
  const last = String.fromCharCode(65 + ((number - 1) % LETTERS));
  return number <= LETTERS ? last : lettersOf(Math.floor((number - 1) / LETTERS)) + last;
}
