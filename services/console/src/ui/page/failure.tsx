import type { Failure } from "../../rpc/errors.ts";
import { Button } from "../button.tsx";
import styles from "./failure.module.css";

/** A failed call: what the server said, the id to report, and a way to try again. */
export function FailureText({ failure, onRetry }: { failure: Failure; onRetry?: () => void }) {
  return (
    <div role="alert" className={styles.failure}>
      <span>
        {failure.message}
        {/[.!?]$/.test(failure.message) ? "" : "."}
        {failure.requestId !== "" && !failure.isConflict && (
          <>
            {" "}
            Request <code>{failure.requestId}</code>
          </>
        )}
      </span>
      {onRetry && <Button onClick={onRetry}>Retry</Button>}
    </div>
  );
}
