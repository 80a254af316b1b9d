import type { Queryable } from "@toolgate/postgres/pool";

export interface ParkedMessage {
  subject: string;
  reason: string;
  payload: Uint8Array;
}

export async function parkMessages(db: Queryable, messages: readonly ParkedMessage[], now: Date): Promise<void> {
  await db.query(
    `insert into outbound_webhook.parked_message (parked_at, subject, reason, payload)
     select $1, * from unnest($2::text[], $3::text[], $4::bytea[])`,
    [
      now,
      messages.map((message) => message.subject),
      messages.map((message) => message.reason),
      messages.map((message) => Buffer.from(message.payload)),
    ],
  );
}
