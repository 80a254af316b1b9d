import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { DataSourceService } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import type { ToolViolation } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useMemo } from "react";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { EDITOR } from "../../../text/en/tools/tool-editor.ts";
import { CodeEditor } from "../../../ui/code/code-editor.tsx";
import { Field } from "../../../ui/form/form.tsx";
import { Input } from "../../../ui/form/input.tsx";
import { EditorField } from "../../definition/editor-field.tsx";
import { JsonField } from "../../definition/json-field.tsx";
import type { Draft } from "../../definition/use-draft.ts";
import { ApiFields } from "./api-fields.tsx";

interface BodyFieldProps {
  draft: Draft;
  violations: readonly ToolViolation[];
  readOnly: boolean;
}

/** What the tool does: its code, its HTTP call, or its query. */
export function BodyField({ draft, violations, readOnly }: BodyFieldProps) {
  const { handler, api, query } = draft.definition;
  if (typeof handler === "string") {
    return <HandlerField code={handler} draft={draft} violations={violations} readOnly={readOnly} />;
  }
  if (isObject(api)) return <ApiFields api={api} draft={draft} readOnly={readOnly} />;
  if (typeof query === "string") return <QueryField query={query} draft={draft} readOnly={readOnly} />;
  const part = api === undefined ? "handler" : "api";
  return (
    <JsonField
      part={part}
      label={EDITOR[part]}
      value={draft.definition[part]}
      onValue={(value) => draft.set(part, value)}
      draft={draft}
      readOnly={readOnly}
    />
  );
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function HandlerField({ code, draft, violations, readOnly }: BodyFieldProps & { code: string }) {
  const problems = useMemo(() => violations.filter(({ path }) => path === "handler"), [violations]);
  return (
    <EditorField label={EDITOR.handler}>
      <CodeEditor
        label={EDITOR.handler}
        value={code}
        onValue={(value) => draft.set("handler", value)}
        language="javascript"
        size="large"
        problems={problems}
        readOnly={readOnly}
      />
    </EditorField>
  );
}

function QueryField({ query, draft, readOnly }: Omit<BodyFieldProps, "violations"> & { query: string }) {
  const workspace = useWorkspace();
  const { data } = useQuery(DataSourceService.method.listPreparedQueries, { workspace });
  return (
    <Field name="query" label={EDITOR.query} hint={EDITOR.queryHint}>
      {(control) => (
        <>
          <Input
            {...control}
            data-mono
            list="prepared-queries"
            readOnly={readOnly}
            value={query}
            onChange={({ target }) => draft.set("query", target.value)}
          />
          <datalist id="prepared-queries">
            {data?.queries.map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
