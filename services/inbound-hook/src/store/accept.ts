import { addParts } from "@toolgate/postgres/fair-queue/add";
import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { makeAndLockGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import type { TraceContext } from "@toolgate/telemetry/trace";
import type { LaneStore } from "./queue.ts";

/** A verified hook call, to be stored as a hook delivery. */
export interface AcceptedCall {
  /** UUID v7 of `createdAt`. */
  id: string;
  createdAt: Date;
  hookId: number;
  workspaceId: string;
  /** When it was received, on the clock of `performance.now`. */
  since: number;
  /** [AUTH-4] Replay keys. */
  keys: readonly Buffer[];
  externalId: string | null;
  body: Uint8Array;
  contentType: string;
  /** The headers with ids, and no others. */
  headers: Readonly<Record<string, string>>;
  requestId: string;
  /** Of the call; its run continues it. */
  trace: TraceContext;
}

interface StoreLimits {
  /** Nothing is sent to Postgres after this time, on the clock of `performance.now`. */
  sendBefore: number;
  /** After this wait for the lock of a workspace's queue, nothing is stored (`isLockTimeout`). */
  lockTimeoutMs: number;
}

/**
 * Stores calls of a lane with their replay keys and queues them, in one transaction and one round trip. Returns, by id, the
 * original delivery of each call that was accepted before and is not stored. If two of the calls share a key, none is stored
 * (`isDataError`).
 *
 * It first locks the workspaces' queues, so that it sees copies of its calls that another replica has just stored. The
 * locks are released before the commit is on disk, but this resolves only afterwards.
 */
export type StoreCalls = (calls: readonly AcceptedCall[], limits: StoreLimits) => Promise<ReadonlyMap<string, string>>;

const STATEMENT_TIMEOUT_MS = 2_000;

export function createStoreCalls({ pool, queue }: LaneStore): StoreCalls {
  const { tables } = queue;
  const [name, text] = [`${tables}_accept`, acceptText(queue)];
  const statementTimeoutMs = STATEMENT_TIMEOUT_MS;
  return async (calls, limits) => {
    const workspaces = [...new Set(calls.map((call) => call.workspaceId))];
    const results = await pipelined(
      pool,
      [...makeAndLockGroups(tables, workspaces), { name, text, values: valuesOf(calls) }],
      { unlockEarly: true, statementTimeoutMs, ...limits },
    );
    const known = (results.at(-1)?.rows ?? []) as { id: string; original: string }[];
    return new Map(known.map(({ id, original }) => [id, original]));
  };
}

function valuesOf(calls: readonly AcceptedCall[]): unknown[] {
  const keys = calls.flatMap((call) => call.keys.map((key) => ({ id: call.id, hookId: call.hookId, key })));
  return [
    calls.map((call) => call.id),
    calls.map((call) => call.createdAt),
    calls.map((call) => call.workspaceId),
    calls.map((call) => call.hookId),
    calls.map((call) => call.externalId),
    calls.map((call) => Buffer.from(call.body.buffer, call.body.byteOffset, call.body.byteLength)),
    calls.map((call) => call.contentType),
    calls.map((call) => JSON.stringify(call.headers)),
    calls.map((call) => call.requestId),
    calls.map((call) => call.trace.traceparent),
    calls.map((call) => call.trace.tracestate),
    keys.map(({ id }) => id),
    keys.map(({ hookId }) => hookId),
    keys.map(({ key }) => key),
  ];
}

const acceptText = (queue: FairQueue) => `with incoming as materialized (
  select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::bigint[], $5::text[], $6::bytea[], $7::text[], $8::text[], $9::text[],
    $10::text[], $11::text[])
    as given (id, created_at, workspace_id, hook_id, external_id, body, content_type, headers, request_id, traceparent, tracestate)
),
wanted as materialized (
  select * from unnest($12::uuid[], $13::bigint[], $14::bytea[]) as given (delivery_id, hook_id, key)
),
known as materialized (
  select distinct on (wanted.delivery_id) wanted.delivery_id as id, k.delivery_id as original
  from wanted join inbound_hook.replay_key k on k.hook_id = wanted.hook_id and k.key = wanted.key
  order by wanted.delivery_id, k.created_at
),
fresh as materialized (
  select * from incoming where id not in (select id from known)
),
keys_added as (
  insert into inbound_hook.replay_key (hook_id, key, delivery_id, created_at)
  select wanted.hook_id, wanted.key, fresh.id, fresh.created_at
  from wanted join fresh on fresh.id = wanted.delivery_id
),
deliveries_added as (
  insert into inbound_hook.delivery
    (created_at, id, workspace_id, hook_id, external_id, body, content_type, headers, request_id, traceparent, tracestate)
  select created_at, id, workspace_id, hook_id, external_id, body, content_type, headers::jsonb, request_id, traceparent,
    tracestate
  from fresh
),
queued as materialized (
  select id as item_id, workspace_id as group_id, hook_id as member_id, created_at as due_at, created_at from fresh
),
${addParts(queue)}
select id, original from known`;
