/** How often an event can be sent to an endpoint again, by resends and replays together: each end of a delivery reads them all. */
export const MAX_SENT_AGAIN = 100;
