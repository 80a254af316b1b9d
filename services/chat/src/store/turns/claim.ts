import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { prepareClaim } from "@toolgate/postgres/fair-queue/claim";
import { lockDueGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined, type Statement } from "@toolgate/postgres/fair-queue/pipeline";
import type { Pool } from "@toolgate/postgres/pool";
import type { Lane } from "../queue.ts";
import { LEASE_MS } from "./leases.ts";
import { SOURCE_COLUMNS, SOURCE_JOINS, type SourceRow, sourcesOf, type TurnSources } from "./sources.ts";

/** A turn that a worker holds from now on. */
export interface ClaimedTurn {
  id: string;
  /** The chat's row. */
  chat: number;
  /** The client's name for the chat. */
  chatId: string;
  number: number;
  workspaceId: string;
  workspace: string;
  lane: Lane;
  assistant: string;
  fileId: string | null;
  /** 0 without a file. */
  fileBytes: number;
  testMode: boolean;
  readOnly: boolean;
  hop: number;
  userId: string;
  requestId: string;
  traceparent: string;
  /** Proves that the worker still holds the turn. */
  token: string;
  /** Another worker has begun it. */
  takenOver: boolean;
  /** Counts the workers that were lost, and this one. */
  attempt: number;
  stopRequested: boolean;
  createdAt: Date;
  startedAt: Date;
  firstEventId: number;
  sources: TurnSources;
}

interface Claim {
  turns: ClaimedTurn[];
  /** Whether more turns may be due. */
  full: boolean;
}

export type ClaimTurns = (now: Date, maxGroups: number) => Promise<Claim>;

/** An item is in the queue until its turn ends; the lease that can expire is the turn's. */
const NEVER = new Date("9999-01-01T00:00:00Z");

/** Rows are locked in the order of their ids, as everywhere, so that no two transactions wait for each other. */
const SELECT = `,
picked as (
  select t.id, t.status from claimed join chat.turn t on t.id = claimed.item_id
  where t.status in ('ready', 'running') order by t.id for no key update of t
),
started as (
  update chat.turn t
  set status = 'running', lease_token = gen_random_uuid(), lease_until = $1 + interval '${LEASE_MS} milliseconds',
    attempts = t.attempts + 1, started_at = coalesce(t.started_at, $1)
  from picked where t.id = picked.id
  returning t.*, picked.status as before
)
select started.id, started.chat, c.chat_id as "chatId", started.number, started.workspace_id as "workspaceId", started.workspace,
  started.lane, started.assistant, started.file_id as "fileId", started.test_mode as "testMode", started.read_only as "readOnly",
  started.hop, started.user_id as "userId", started.request_id as "requestId", started.traceparent, started.lease_token as token,
  started.attempts as attempt, started.before = 'running' as "takenOver", started.stop_requested as "stopRequested", started.created_at as "createdAt",
  started.started_at as "startedAt", started.first_event_id as "firstEventId",
  coalesce((select f.size from chat.file f where f.id = started.file_id), 0) as "fileBytes",
  ${SOURCE_COLUMNS}
from started join chat.chat c on c.id = started.chat
${SOURCE_JOINS}`;

/**
 * Claims turns of a lane that may start, or that another worker has lost, together with what they need: one round trip
 * for all of them. A claim does not wait for the disk: it is on disk before anything that its worker commits later.
 */
export function createClaimStore(pool: Pool, lane: Lane, queue: FairQueue): ClaimTurns {
  const claim = prepareClaim(queue, { name: `claim_${lane}_turns`, text: SELECT });
  return async (now, maxGroups) => {
    const statements = [lockDueGroups(queue.tables, now, maxGroups), claim({ now, leaseUntil: NEVER })];
    const [locked, claimed] = await pipelined(pool, statements);
    const turns: ClaimedTurn[] = (claimed?.rows ?? []).map(toTurn);
    const groups: number = locked?.rows[0].groups ?? 0;
    return { turns, full: groups === maxGroups || (groups > 0 && turns.length === 0) };
  };
}

/** Claims the due turns of a workspace, in a transaction that has locked it and just added one. */
export interface ClaimOfWorkspace {
  statement(now: Date): Statement;
  turnsOf(rows: readonly unknown[]): ClaimedTurn[];
}

export function createClaimOfWorkspace(lane: Lane, queue: FairQueue): ClaimOfWorkspace {
  const claim = prepareClaim(queue, { name: `claim_${lane}_turns`, text: SELECT });
  return {
    statement: (now) => claim({ now, leaseUntil: NEVER }),
    turnsOf: (rows) => (rows as Row[]).map(toTurn),
  };
}

type Row = Omit<ClaimedTurn, "sources"> & SourceRow;

function toTurn(row: Row): ClaimedTurn {
  const {
    lastEventId: _1,
    messages: _2,
    definition: _3,
    deleted: _4,
    servers: _5,
    perDay: _6,
    used: _7,
    ...turn
  } = row;
  return { ...turn, sources: sourcesOf(row) };
}
