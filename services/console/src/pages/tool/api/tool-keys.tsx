import { Link } from "@tanstack/react-router";
import { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { failureOf } from "../../../rpc/errors.ts";
import { useWorkspace } from "../../../rpc/use-session.ts";
import { API_TAB } from "../../../text/en/api-tab.ts";
import { Button } from "../../../ui/button.tsx";
import { FailureText } from "../../../ui/failure.tsx";
import { useList } from "../../../ui/use-list.ts";
import { KeyStatusBadge } from "../../keys/key-status.tsx";
import styles from "./api-tab.module.css";
import { Part } from "./part.tsx";

/** [BLD-16] to [BLD-20] For managers and admins. */
export function ToolKeys({ tool }: { tool: string }) {
  const workspace = useWorkspace();
  const list = useList(
    KeyService.method.listKeys,
    { workspace, tool },
    { rowsOf: (page) => page.keys, keyOf: (key) => key.id },
  );
  return (
    <Part title={API_TAB.keys}>
      <p className={styles.dim}>{API_TAB.keysText}</p>
      {list.error && <FailureText failure={failureOf(list.error)} onRetry={list.refresh} />}
      {list.isLoaded && list.rows.length === 0 && (
        <p>
          {API_TAB.noKeys} <Link to="/api-keys">{API_TAB.openKeys}</Link>
        </p>
      )}
      {list.rows.length > 0 && (
        <table className={styles.table}>
          <thead>
            <tr>
              <th>Name</th>
              <th>Prefix</th>
              <th>Limit</th>
              <th>Status</th>
            </tr>
          </thead>
          <tbody>
            {list.rows.map((key) => (
              <tr key={key.id}>
                <td>
                  <Link to="/api-keys" search={{ open: key.id }}>
                    {key.name}
                  </Link>
                </td>
                <td className={styles.name}>
                  <code>{key.prefix}…</code>
                </td>
                <td className={styles.name}>{key.limit}/min</td>
                <td>
                  <KeyStatusBadge {...key} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
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
