import { type Replay, ReplayState } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { REPLAY, REPLAY_STATES } from "../../text/en/webhooks/undelivered.ts";
import { Button } from "../../ui/button.tsx";
import { Status, type Tone } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { progressText, rangeText } from "./replay-text.ts";
import styles from "./undelivered.module.css";

const TONES: Readonly<Record<ReplayState, Tone>> = {
  [ReplayState.UNSPECIFIED]: "dim",
  [ReplayState.RUNNING]: "warn",
  [ReplayState.PAUSED]: "dim",
  [ReplayState.DONE]: "good",
  [ReplayState.CANCELLED]: "dim",
};

interface OneReplayProps {
  of: Replay;
  url: string;
  onCancel: (() => void) | undefined;
}

/** A replay and how far it is. */
export function OneReplay({ of, url, onCancel }: OneReplayProps) {
  const { state, range, startedBy, startedAt, cancelledBy, estimatedEnd, considered, eventsAtStart } = of;
  const isRunning = state === ReplayState.RUNNING;
  return (
    <section className={styles.replay} aria-label={`Replay to ${url}`}>
      <div className={styles.state}>
        <Status tone={TONES[state]} icon={isRunning ? "run" : undefined}>
          {REPLAY_STATES[state]}
        </Status>
        <strong>{url}</strong>
        <span>{progressText(of)}</span>
        {state === ReplayState.PAUSED && <span>{REPLAY.paused}</span>}
        {onCancel && <Button onClick={onCancel}>{REPLAY.cancel}</Button>}
      </div>
      {onCancel && (
        <progress aria-label={REPLAY.progress} max={Math.max(eventsAtStart, considered, 1)} value={considered} />
      )}
      <div className={styles.dim}>
        <span>{range && `Events ${rangeText(range)}`}</span>
        {isRunning && estimatedEnd && considered < eventsAtStart && (
          <span>
            {REPLAY.sendingEnds} <Time at={estimatedEnd} />
          </span>
        )}
        <span>
          started by {startedBy} <Time at={startedAt} />
          {cancelledBy && `, cancelled by ${cancelledBy}`}
        </span>
      </div>
    </section>
  );
}
