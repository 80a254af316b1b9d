/**
 * The prefix of a user's inboxes, to which NATS sends the responses to its requests. Users may only subscribe to their
 * own, or they could read the others' responses.
 */
export function inboxOf(user: string): string {
  return `_INBOX_${user}`;
}
