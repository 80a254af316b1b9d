import { useQuery } from "@connectrpc/connect-query";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useWorkspace } from "../../rpc/use-session.ts";
import { ENDPOINTS } from "../../text/en/endpoints.ts";
import { FieldGroup } from "../../ui/field-group.tsx";
import { Checkbox } from "../../ui/input.tsx";
import styles from "./endpoints.module.css";

const MAX_TOOLS = 100;

/** The tools whose completions an endpoint gets: those that report any, and those that it names already. */
export function ToolChoice({ selected }: { selected: readonly string[] }) {
  const workspace = useWorkspace();
  const { data } = useQuery(ToolService.method.listTools, { workspace, pageSize: MAX_TOOLS });
  const reporting = data?.tools.filter(({ definition }) => definition?.webhook_event === true) ?? [];
  const names = [...new Set([...selected, ...reporting.map(({ name }) => name)])].sort();
  return (
    <div className={styles.tools}>
      <FieldGroup name="tools" label={ENDPOINTS.tools} hint={ENDPOINTS.toolsHint}>
        {data && names.length === 0 && <p className={styles.dim}>{ENDPOINTS.noTools}</p>}
        {names.map((name) => (
          <Checkbox key={name} name="tools" value={name} label={name} defaultChecked={selected.includes(name)} />
        ))}
      </FieldGroup>
    </div>
  );
}
