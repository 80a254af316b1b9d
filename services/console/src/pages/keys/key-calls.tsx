import { useQuery } from "@connectrpc/connect-query";
import { KeyService } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { KEYS } from "../../text/en/keys.ts";
import { FailureText } from "../../ui/page/failure.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import styles from "./keys.module.css";

const POLL_MS = 3_000;

/** [MGMT-20] [MGMT-21] [MGMT-22] */
export function KeyCalls({ keyId }: { keyId: string }) {
  const workspace = useWorkspace();
  const { data, error, refetch } = useQuery(
    KeyService.method.listKeyCalls,
    { workspace, keyId },
    { refetchInterval: POLL_MS },
  );
  if (error) return <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />;
  if (data?.calls.length === 0) return <p className={styles.dim}>{KEYS.noCalls}</p>;
  return (
    <table className={styles.calls}>
      <thead>
        <tr>
          <th>When</th>
          <th>Tool</th>
          <th>Status</th>
          <th>Took</th>
          <th>From</th>
        </tr>
      </thead>
      <tbody>
        {data?.calls.map(({ at, tool, status, durationMs, ip, requestId }) => (
          <tr key={requestId} title={`Request ${requestId}`}>
            <td>
              <Time at={at} />
            </td>
            <td>{tool}</td>
            <td>
              <Status tone={status < 300 ? "good" : status < 500 ? "warn" : "bad"} icon={status < 300 ? "ok" : "bad"}>
                {String(status)}
              </Status>
            </td>
            <td>{durationMs} ms</td>
            <td>{ip}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
