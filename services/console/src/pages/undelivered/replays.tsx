import { useMutation, useQuery } from "@connectrpc/connect-query";
import { type Replay, ReplayService, ReplayState } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { useEffect, useState } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { REPLAY } from "../../text/en/webhooks/undelivered.ts";
import { Confirm } from "../../ui/dialog/confirm.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import type { Endpoints } from "../deliveries/use-endpoints.ts";
import { OneReplay } from "./one-replay.tsx";
import { countText, progressText, rangeText } from "./replay-text.ts";
import styles from "./undelivered.module.css";

const RUNNING_POLL_MS = 1_000;
const IDLE_POLL_MS = 10_000;

interface ReplaysProps {
  endpoints: Endpoints;
  /** The replay that was started here: it stays in sight after its end. */
  startedId: bigint | undefined;
  onChanged: () => void;
}

const isRunning = ({ state }: Replay) => state === ReplayState.RUNNING || state === ReplayState.PAUSED;

/** Replays that run, followed on screen, and those of the last 30 days. */
export function Replays({ endpoints, startedId, onChanged }: ReplaysProps) {
  const workspace = useWorkspace();
  const [cancelling, setCancelling] = useState<Replay>();
  const { data, error, refetch } = useQuery(
    ReplayService.method.listReplays,
    { workspace },
    { refetchInterval: ({ state }) => (state.data?.replays.some(isRunning) ? RUNNING_POLL_MS : IDLE_POLL_MS) },
  );
  const replays = data?.replays ?? [];
  const current = replays.filter((replay) => isRunning(replay) || replay.id === startedId);
  const earlier = replays.filter((replay) => !current.includes(replay));
  const progress = current.map(({ delivered, failed, state }) => `${delivered} ${failed} ${state}`).join();
  useEffect(() => {
    if (startedId !== undefined) void refetch();
  }, [startedId]);
  useEffect(() => {
    if (progress !== "") onChanged();
  }, [progress]);
  if (error) return <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />;
  if (replays.length === 0) return null;
  const shown = (replay: Replay) => (
    <OneReplay
      key={replay.id}
      of={replay}
      url={endpoints.urlOf(replay.endpointId)}
      onCancel={isRunning(replay) ? () => setCancelling(replay) : undefined}
    />
  );
  return (
    <div className={styles.replays}>
      {current.map(shown)}
      {earlier.length > 0 && (
        <details>
          <summary>
            {REPLAY.earlier} ({earlier.length})
          </summary>
          <div className={styles.earlier}>{earlier.map(shown)}</div>
        </details>
      )}
      {cancelling && (
        <CancelReplay
          of={cancelling}
          url={endpoints.urlOf(cancelling.endpointId)}
          onClose={() => setCancelling(undefined)}
          onChanged={() => void refetch()}
        />
      )}
    </div>
  );
}

interface CancelReplayProps {
  of: Replay;
  url: string;
  onClose: () => void;
  onChanged: () => void;
}

function CancelReplay({ of, url, onClose, onChanged }: CancelReplayProps) {
  const workspace = useWorkspace();
  const cancel = useMutation(ReplayService.method.cancelReplay);
  return (
    <Confirm
      title="Cancel this replay?"
      action={REPLAY.cancel}
      onClose={onClose}
      onConfirm={async () => {
        await cancel.mutateAsync({ workspace, replayId: of.id });
        onChanged();
      }}
    >
      {of.range && (
        <p>
          {countText(of.eventsAtStart, of.moreAtStart, of.range)} {rangeText(of.range)}, to {url}: {progressText(of)}.
        </p>
      )}
      <p>{REPLAY.keepText}</p>
    </Confirm>
  );
}
