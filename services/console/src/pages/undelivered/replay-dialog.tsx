import { useMutation } from "@connectrpc/connect-query";
import { type PreviewReplayResponse, ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { useState } from "react";
import { useWorkspace } from "../../rpc/use-session.ts";
import { REPLAY } from "../../text/en/webhooks/undelivered.ts";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import type { Endpoints } from "../deliveries/use-endpoints.ts";
import { ReplayFields } from "./replay-fields.tsx";
import { ReplayPreview } from "./replay-preview.tsx";
import { type ReplayRequest, type ReplayStart, type ReplayValues, requestOf } from "./replay-request.ts";

interface ReplayDialogProps {
  start: ReplayStart;
  endpoints: Endpoints;
  onClose: () => void;
  onStarted: (replayId: bigint) => void;
}

/** Asks for a range, shows what it has, and only then sends it. */
export function ReplayDialog({ start, endpoints, onClose, onStarted }: ReplayDialogProps) {
  const workspace = useWorkspace();
  const [values, setValues] = useState<ReplayValues>();
  const [previewed, setPreviewed] = useState<{ request: ReplayRequest; preview: PreviewReplayResponse }>();
  const preview = useMutation(ReplayService.method.previewReplay, { gcTime: 0 });
  const replay = useMutation(ReplayService.method.startReplay);
  if (previewed)
    return (
      <Dialog title={REPLAY.previewTitle} onClose={onClose}>
        <ReplayPreview
          {...previewed}
          url={endpoints.urlOf(previewed.request.endpointId)}
          onBack={() => setPreviewed(undefined)}
          onStart={async () => {
            const { replayId } = await replay.mutateAsync(previewed.request);
            onStarted(replayId);
            onClose();
          }}
        />
      </Dialog>
    );
  return (
    <Dialog title={REPLAY.title} description={REPLAY.text} onClose={onClose}>
      <ReplayFields
        start={start}
        before={values}
        endpoints={endpoints}
        onCancel={onClose}
        onSubmit={async (next) => {
          const request = requestOf(workspace, next);
          setPreviewed({ request, preview: await preview.mutateAsync(request) });
          setValues(next);
        }}
      />
    </Dialog>
  );
}
