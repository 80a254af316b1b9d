import type { DeedRow } from "@toolgate/audit-trail/write";
import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { pipelined, type Statement } from "@toolgate/postgres/fair-queue/pipeline";
import type { Pool } from "@toolgate/postgres/pool";
import { replayStepText } from "./step-text.ts";
import { CHOSEN_REPLAY, PASS_OVER } from "./walk-text.ts";

export interface ReplayStep {
  /** Whether there was a replay to work at. */
  worked: boolean;
  /** Whether the lock of the workspace's queue was held: a dispatcher that came by meanwhile has left it out. */
  locked: boolean;
  /** Deliveries made. */
  made: number;
  /** When the next step of any replay is due; undefined when there is none. */
  nextAt: Date | undefined;
}

/** The step of this replay has failed, and has done nothing. */
export class ReplayStepFailed extends Error {
  readonly replayId: number;
  constructor(replayId: number, cause: unknown) {
    super(`step of the replay ${replayId}`, { cause });
    this.replayId = replayId;
  }
}

export interface ReplayStepStore {
  /**
   * Does the next step of the replay that is due longest and that nobody else is working at. Fails with ReplayStepFailed
   * once it is known which one that is.
   */
  step(now: Date): Promise<ReplayStep>;
  /** Puts off a replay whose step has failed. */
  putOff(replayId: number, until: Date): Promise<void>;
  /**
   * Ends a replay, cancels what waits of it, and records the deed. Returns false when the workspace has none of that id.
   */
  cancel(replay: { workspaceId: string; replayId: number }, by: string, now: Date, deed: DeedRow): Promise<boolean>;
}

const FIRST_DUE = `select id from outbound_webhook.replay where next_step_at <= $1
order by next_step_at limit 1 for update skip locked`;

const CHOOSE_DUE = `select set_config('toolgate.replay', coalesce((
  select id::text from (
    select id from outbound_webhook.replay where id = $2 and next_step_at <= $1 for update skip locked
  ) due
), ''), true) as replay`;

const CHOOSE_ONE = `select set_config('toolgate.replay', coalesce((
  select id::text from (
    select id from outbound_webhook.replay where workspace_id = $1 and id = $2 for update
  ) named
), ''), true) as replay`;

const LOCK_GROUP: Statement = {
  name: "replay_lock_group",
  text: `select group_id from outbound_webhook.queue_group
where group_id = (select workspace_id from outbound_webhook.replay where id = ${CHOSEN_REPLAY}) for update`,
  values: [],
};

const END = `update outbound_webhook.replay
set state = 'cancelled', cancelled_by = $1, finished_at = $2, next_step_at = $2
where id = ${CHOSEN_REPLAY} and state = 'running'`;

const RECORD_END = `insert into outbound_webhook.audit_outbox (id, at, record)
select $1::uuid, $2::timestamptz, $3::bytea where ${CHOSEN_REPLAY} is not null`;

const PUT_OFF = "update outbound_webhook.replay set next_step_at = $2 where id = $1 and next_step_at < $2";

/**
 * A step is one transaction and one round trip, after another that finds the replay. It holds the row of the replay and,
 * once it has come to an event to send, the lock of the workspace's queue, and moves the replay's place on together with
 * the deliveries that it makes: whoever is killed meanwhile has done all of it or nothing.
 */
export function createReplayStepStore(pool: Pool, queue: FairQueue): ReplayStepStore {
  const text = replayStepText(queue);
  const work = (now: Date): Statement => ({ name: "replay_step", text, values: [now] });
  const next: Statement = {
    name: "replay_next",
    text: "select min(next_step_at) as at from outbound_webhook.replay where next_step_at is not null",
    values: [],
  };
  return {
    async step(now) {
      const find = { name: "replay_first_due", text: FIRST_DUE, values: [now] };
      const [first, waiting] = await pipelined(pool, [find, next]);
      const replayId = first?.rows[0]?.id;
      const nextAt = waiting?.rows[0].at ?? undefined;
      if (replayId === undefined) return { worked: false, locked: false, made: 0, nextAt };
      const choose = { name: "replay_choose_due", text: CHOOSE_DUE, values: [now, replayId] };
      const pass = { name: "replay_pass_over", text: PASS_OVER, values: [now] };
      const statements = [choose, pass, LOCK_GROUP, work(now), next];
      const [chosen, , locked, worked, due] = await pipelined(pool, statements).catch((error: unknown) => {
        throw new ReplayStepFailed(replayId, error);
      });
      return {
        worked: chosen?.rows[0].replay !== "",
        locked: locked?.rowCount === 1,
        made: worked?.rows[0]?.made ?? 0,
        nextAt: due?.rows[0].at ?? undefined,
      };
    },
    async putOff(replayId, until) {
      await pipelined(pool, [{ name: "replay_put_off", text: PUT_OFF, values: [replayId, until] }]);
    },
    async cancel({ workspaceId, replayId }, by, now, deed) {
      const choose = { name: "replay_choose_one", text: CHOOSE_ONE, values: [workspaceId, replayId] };
      const end = { name: "replay_end", text: END, values: [by, now] };
      const record = { name: "replay_record_end", text: RECORD_END, values: [deed.id, deed.at, deed.record] };
      const [chosen] = await pipelined(pool, [choose, LOCK_GROUP, record, end, work(now)]);
      return chosen?.rows[0].replay !== "";
    },
  };
}
