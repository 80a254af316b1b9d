/** Calls that one stream serves at a time, and that one client has open at a time, unless configured otherwise. */
export const DEFAULT_MAX_IN_FLIGHT = 4096;

/** Longest time that a server works on a call, even if the client allows more. */
export const DEFAULT_MAX_TIMEOUT_MS = 600_000;

/** Largest batch that is read: the usual message limit of gRPC. */
export const READ_MAX_BYTES = 4 * 1024 * 1024;

/** Largest encoded request or response, leaving room for its frame. */
export const MAX_MESSAGE_BYTES = READ_MAX_BYTES - 1024;

/** Longest message of a failure; the rest is cut off. */
export const MAX_FAILURE_MESSAGE_CHARS = 4_096;

/** A batch is closed when its messages reach this size; a larger message travels alone. */
export const MAX_BATCH_BYTES = 256 * 1024;

/** Requests that wait in a client for a stream or for a slow server. */
export const MAX_UNSENT_REQUEST_BYTES = 64 * 1024 * 1024;

/** Replies that wait for a slow reader; above it the server reads no further calls from that stream. */
export const MAX_UNSENT_REPLY_BYTES = 16 * 1024 * 1024;

/** Time between two checks of the deadlines of open calls. */
export const SWEEP_PERIOD_MS = 20;

/**
 * A stream's caller is checked when the stream opens, so a server asks for a new stream after this time: whoever opened
 * one with a stolen credential, which is valid for a minute, cannot keep it.
 */
export const DEFAULT_MAX_STREAM_AGE_MS = 900_000;

/** A draining server refuses new calls after this time. */
export const DEFAULT_DRAIN_GRACE_MS = 2_000;

/** Longest time that a call waits while no stream is up, before it fails because the service is down. */
export const DEFAULT_MAX_WAIT_MS = 10_000;

/** Time for a stream to come up before the attempt counts as failed. */
export const CONNECT_TIMEOUT_MS = 5_000;

/** Time between two lookups of the addresses when nothing fails. */
export const DEFAULT_RESOLVE_EVERY_MS = 5_000;

/** How long a closing client waits for a server to end an idle stream cleanly. */
export const CLOSE_GRACE_MS = 500;

/** Bytes that the server may send ahead of the reader. */
export const FLOW_WINDOW_BYTES = 1024 * 1024;

/** Time between two checks of a connection; a dead peer is detected at the fourth. */
export const KEEPALIVE_TICK_MS = 1_000;

/** Checks that a peer may be silent for; it is probed at the next one, the second. */
export const SILENT_TICKS_UNTIL_PROBE = 1;

/** Checks that a peer may be silent for; it counts as dead at the next one, the fourth. */
export const SILENT_TICKS_UNTIL_LOST = 3;
