import type { PreviewReplayResponse } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { useState } from "react";
import { type Failure, failureOf } from "../../rpc/errors.ts";
import { REPLAY } from "../../text/en/webhooks/undelivered.ts";
import { Button } from "../../ui/button.tsx";
import { DialogButtons } from "../../ui/dialog/dialog.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Time } from "../../ui/time.tsx";
import { spanText } from "../deliveries/duration.ts";
import type { ReplayRequest } from "./replay-request.ts";
import { countText, rangeText } from "./replay-text.ts";
import styles from "./undelivered.module.css";

interface ReplayPreviewProps {
  request: ReplayRequest;
  preview: PreviewReplayResponse;
  url: string;
  onBack: () => void;
  onStart: () => Promise<unknown>;
}

/** Repeats what was chosen, and says how much it is. */
export function ReplayPreview({ request, preview, url, onBack, onStart }: ReplayPreviewProps) {
  const [failure, setFailure] = useState<Failure>();
  const [isPending, setPending] = useState(false);
  const { range, ratePerSecond } = request;
  const count = countText(preview.events, preview.more, range);
  const isEmpty = preview.events === 0 && !preview.more;
  const start = async () => {
    setPending(true);
    await onStart().catch((error) => {
      setFailure(failureOf(error));
      setPending(false);
    });
  };
  return (
    <div className={styles.preview}>
      <p>
        <strong>{count}</strong> {rangeText(range)}, to <strong>{url}</strong>.
      </p>
      {isEmpty ? <p>{REPLAY.none}</p> : <Counted of={preview} />}
      {!isEmpty && (
        <p className={styles.dim}>
          At {ratePerSecond} per second this takes {preview.more ? "at least" : "about"}{" "}
          {spanText(preview.estimatedSeconds * 1_000)}, if your server keeps up.
        </p>
      )}
      {failure && <FailureText failure={failure} />}
      <DialogButtons>
        <Button onClick={onBack}>{REPLAY.back}</Button>
        {!isEmpty && (
          <Button kind="primary" pending={isPending} onClick={() => void start()}>
            Replay {count}
          </Button>
        )}
      </DialogButtons>
    </div>
  );
}

function Counted({ of: { types, oldest, newest } }: { of: PreviewReplayResponse }) {
  return (
    <>
      <table className={styles.table}>
        <thead>
          <tr>
            <th>Event type</th>
            <th>Events</th>
          </tr>
        </thead>
        <tbody>
          {types.map(({ type, events }) => (
            <tr key={type}>
              <td>{type}</td>
              <td>{events.toLocaleString("en")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className={styles.dim}>
        The oldest is from <Time at={oldest} exact />, the newest from <Time at={newest} exact />.
      </p>
    </>
  );
}
