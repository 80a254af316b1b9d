import { randomUUID } from "node:crypto";
import type { Pool } from "@toolgate/postgres/pool";
import { newTimedId, timeOfId } from "@toolgate/postgres/timed-id";
import type { AcceptedCall } from "../../src/store/accept.ts";
import type { ClaimedDelivery } from "../../src/store/runs/claim.ts";
import type { RunRecord } from "../../src/store/runs/settle.ts";

export const [HOOK, WORKSPACE] = [1, "w"];

export function newCall(): AcceptedCall {
  const id = newTimedId(new Date());
  return {
    id,
    createdAt: timeOfId(id),
    lane: "tool",
    hookId: HOOK,
    workspaceId: WORKSPACE,
    keys: [Buffer.from(randomUUID()), Buffer.from(randomUUID())],
    externalId: null,
    body: Buffer.from("{}"),
    contentType: "",
    headers: {},
    requestId: "",
    trace: { traceparent: "", tracestate: "" },
  };
}

export function recordOf({ run, attempt, ...claimed }: ClaimedDelivery, outcome: RunRecord["outcome"]): RunRecord {
  const ended = { durationMs: 1, args: "{}", result: "{}", error: "", executionId: "", nextAttempt: attempt };
  return {
    ...claimed,
    ...ended,
    number: run?.number ?? 0,
    outcome,
    againAt: outcome === "returned" ? new Date() : null,
  };
}

export const urlHash = (id: number) => Buffer.from(String(id).padStart(32, "0"));

export async function addHooks(pool: Pool, from: number, to: number): Promise<void> {
  await pool.query(
    `insert into inbound_hook.hook (id, workspace_id, workspace, name, url_hash, shown_url, format, target_kind, target_name,
       args_from, call_limit, tolerance_seconds, secret, created_at)
     select n, case n when ${HOOK} then '${WORKSPACE}' else 'w-' || n end, '', '', lpad(n::text, 32, '0')::bytea, '', 'native',
       'tool', '', 'fields', 60, 300, '', now()
     from generate_series($1::int, $2::int) n`,
    [from, to],
  );
}
