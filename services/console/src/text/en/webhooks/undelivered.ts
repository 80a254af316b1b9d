import { ReplaySelection, ReplayState } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";

export const UNDELIVERED = {
  title: "Undelivered",
  anyEndpoint: "Any endpoint",
  types: "Event types",
  addType: "Add an event type",
  empty: "Nothing is undelivered",
  emptyText: "Events that an endpoint should have received but did not are kept here for 30 days.",
  replay: "Replay…",
  replayIt: "Replay it…",
  neverSent: "It was never sent, because the endpoint was inactive when the event arrived.",
  gone: "This event is no longer undelivered.",
  resent: "Sent again",
  deliveries: "Deliveries to this endpoint",
  noDeliveries: "None.",
  unknown: "Nothing is known of this event.",
} as const;

export const REPLAY = {
  title: "Replay events",
  text: "Sends events again, oldest first, with new delivery ids and the same event ids. You see how many there are before anything is sent.",
  endpoint: "Endpoint",
  selection: "Which events",
  from: "From",
  fromHint: "In your time zone.",
  to: "Before",
  toHint: "Empty: now.",
  typesHint: "None: all types.",
  rate: "Events per second",
  rateHint: "From 1 to 100. Choose what your server can take.",
  preview: "Preview",
  previewTitle: "Replay these events?",
  none: "There is nothing to replay in this range.",
  back: "Back",
  started: "The replay has started",
  cancel: "Cancel replay",
  keepText:
    "No more events are sent, and deliveries that wait are cancelled. Attempts under way are finished. What was not delivered stays undelivered.",
  sendingEnds: "sending ends",
  paused: "It continues when the endpoint is active again.",
  earlier: "Earlier replays",
  progress: "Progress of the replay",
} as const;

export const SELECTIONS: readonly (readonly [value: string, label: string])[] = [
  [String(ReplaySelection.UNDELIVERED), "Undelivered events only"],
  [String(ReplaySelection.ALL), "All events, delivered ones too"],
];

export const REPLAY_STATES: Readonly<Record<ReplayState, string>> = {
  [ReplayState.UNSPECIFIED]: "",
  [ReplayState.RUNNING]: "Running",
  [ReplayState.PAUSED]: "Paused",
  [ReplayState.DONE]: "Done",
  [ReplayState.CANCELLED]: "Cancelled",
};
