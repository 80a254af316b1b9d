/** How often an event can be sent to an endpoint again, by resends and replays together: whoever asks what became of an event reads them all. */
export const MAX_SENT_AGAIN = 100;
