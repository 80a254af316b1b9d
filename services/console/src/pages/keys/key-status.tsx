import { type Key, KeyStatus } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { KEYS } from "../../text/en/keys.ts";
import { Hidden } from "../../ui/hidden.tsx";
import { Status } from "../../ui/status.tsx";
import styles from "./keys.module.css";

export function KeyStatusBadge({ status }: Pick<Key, "status">) {
  if (status === KeyStatus.REVOKED) return <Status tone="dim">Revoked</Status>;
  if (status === KeyStatus.EXPIRED) return <Status tone="warn">Expired</Status>;
  return <Status tone="good">Active</Status>;
}

/** [MGMT-18] Tools whose calls get 403 are marked red. */
export function KeyTools({ tools, unavailableTools }: Pick<Key, "tools" | "unavailableTools">) {
  if (tools.length === 0) return <span className={styles.dim}>none</span>;
  return (
    <>
      {tools.map((tool, index) => (
        <span key={tool}>
          {index > 0 && ", "}
          {unavailableTools.includes(tool) ? (
            <span className={styles.red} title={KEYS.unavailable}>
              <span aria-hidden="true">⚠ </span>
              {tool}
              <Hidden> ({KEYS.unavailable})</Hidden>
            </span>
          ) : (
            tool
          )}
        </span>
      ))}
    </>
  );
}
