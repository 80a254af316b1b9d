import { Link } from "@tanstack/react-router";
import { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { failureOf } from "../../../rpc/errors.ts";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { API_TAB } from "../../../text/en/tools/api-tab.ts";
import { Button } from "../../../ui/button.tsx";
import { useList } from "../../../ui/list/use-list.ts";
import { FailureText } from "../../../ui/page/failure.tsx";
import { Part } from "../../../ui/page/part.tsx";
import { Table } from "../../../ui/page/table.tsx";
import { KeyStatusBadge } from "../../keys/key-status.tsx";
import styles from "./api-tab.module.css";

/** [BLD-16] to [BLD-20] For managers and admins. */
export function ToolKeys({ tool }: { tool: string }) {
  const workspace = useWorkspace();
  const list = useList(
    KeyService.method.listKeys,
    { workspace, tool },
    { rowsOf: (page) => page.keys, keyOf: (key) => key.id },
  );
  const rows = list.rows.map((key) => ({
    key: key.id,
    cells: [
      <Link key="name" to="/api-keys" search={{ open: key.id }}>
        {key.name}
      </Link>,
      <code key="prefix" className={styles.name}>
        {key.prefix}…
      </code>,
      <span key="limit" className={styles.name}>
        {key.limit}/min
      </span>,
      <KeyStatusBadge key="status" {...key} />,
    ],
  }));
  return (
    <Part title={API_TAB.keys}>
      <p className={styles.dim}>{API_TAB.keysText}</p>
      {list.error && <FailureText failure={failureOf(list.error)} onRetry={list.refresh} />}
      {list.isLoaded && rows.length === 0 && (
        <p>
          {API_TAB.noKeys} <Link to="/api-keys">{API_TAB.openKeys}</Link>
        </p>
      )}
      {rows.length > 0 && <Table columns={["Name", "Prefix", "Limit", "Status"]} rows={rows} />}
      {list.hasMore && (
        <div>
          <Button pending={list.isFetching} onClick={list.loadMore}>
            {API_TAB.more}
          </Button>
        </div>
      )}
    </Part>
  );
}
