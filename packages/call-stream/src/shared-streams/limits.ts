/** Bytes of one stream that its reader has not taken. Beyond this the server reads no further messages from the handler. */
export const STREAM_WINDOW_BYTES = 256 * 1024;

/** The reader says what it has taken after this many bytes. */
export const TAKEN_EVERY_BYTES = 64 * 1024;

/** How long a new stream waits while no connection is up. */
export const WAIT_FOR_CONNECTION_MS = 5_000;
