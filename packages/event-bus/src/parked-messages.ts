import type { Queryable } from "@toolgate/postgres/pool";

/** A message that cannot be processed, kept for the operator. */
export interface ParkedMessage {
  subject: string;
  reason: string;
  payload: Uint8Array;
}

/**
 * Stores messages in the table `<schema>.parked_message (id bigint generated always as identity primary key, parked_at
 * timestamptz, subject text, reason text, payload bytea)`.
 */
export async function parkMessages(
  db: Queryable,
  schema: string,
  messages: readonly ParkedMessage[],
  now: Date,
): Promise<void> {
  await db.query(
    `insert into ${schema}.parked_message (parked_at, subject, reason, payload)
     select $1, * from unnest($2::text[], $3::text[], $4::bytea[])`,
    [
      now,
      messages.map((message) => message.subject),
      messages.map((message) => message.reason),
      messages.map((message) => Buffer.from(message.payload)),
    ],
  );
}

/** Forgets the messages that were parked before a time. */
export async function deleteParkedBefore(db: Queryable, schema: string, before: Date): Promise<void> {
  await db.query(`delete from ${schema}.parked_message where parked_at < $1`, [before]);
}
