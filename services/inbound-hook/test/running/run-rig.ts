import type { CreateHookResponse } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { eventually, type Patience } from "@toolgate/testbed/eventually";
import type { RigOptions } from "../hook-rig.ts";
import { type HookRequest, type ReceiveRig, startReceiveRig } from "../receive-rig.ts";

export type TestHook = CreateHookResponse & { id: bigint };

export interface StoredRun {
  number: number;
  status: string;
  started_at: Date;
  duration_ms: number;
  args: string;
  result: string;
  error: string;
  execution_id: string;
  chat_id: string;
  requested_by: string;
}

export interface StoredOutcome {
  status: string;
  error: string;
  duration_ms: number;
  created_at: Date;
  runs: StoredRun[];
}

/** The rig with processes that also run the targets of what they accept. */
export interface RunRig extends ReceiveRig {
  /** Sends a signed call, which must be accepted; returns the delivery's id. */
  accept(hook: TestHook, body?: unknown, request?: HookRequest): Promise<string>;
  outcomeOf(deliveryId: string): Promise<StoredOutcome>;
  /** The same, once the target has ended. */
  ended(deliveryId: string, patience?: Patience): Promise<StoredOutcome & { last: StoredRun }>;
  /** As if the process that runs the delivery had died long ago. That process, if alive, renews the lease within seconds. */
  expireLease(deliveryId: string): Promise<void>;
}

export async function startRunRig(options: RigOptions = {}): Promise<RunRig> {
  const rig = await startReceiveRig({ instances: [["receiver", "runner"]], ...options });
  const outcomeOf: RunRig["outcomeOf"] = async (deliveryId) => {
    const { rows } = await rig.pool.query("select * from inbound_hook.delivery where id = $1", [deliveryId]);
    const runs = await rig.pool.query("select * from inbound_hook.run where delivery_id = $1 order by number", [
      deliveryId,
    ]);
    return { ...rows[0], runs: runs.rows };
  };
  return {
    ...rig,
    async accept(hook, body = {}, request = {}) {
      const response = await rig.sendSigned(hook, {
        body: typeof body === "string" ? body : JSON.stringify(body),
        ...request,
      });
      if (response.status !== 202) throw new Error(`not accepted: ${response.status} ${response.text}`);
      return String(response.body.delivery_id);
    },
    outcomeOf,
    ended: (deliveryId, patience) =>
      eventually(async () => {
        const outcome = await outcomeOf(deliveryId);
        const last = outcome.runs.at(-1);
        return last && !["waiting", "running"].includes(outcome.status) ? { ...outcome, last } : false;
      }, patience),
    async expireLease(deliveryId) {
      await eventually(async () => {
        for (const lane of ["tool", "assistant"]) {
          await rig.pool.query(
            `update inbound_hook.${lane}_queue_item set lease_until = 'epoch' where item_id = $1 and lease_until is not null`,
            [deliveryId],
          );
        }
        return (await outcomeOf(deliveryId)).status !== "running";
      });
    },
  };
}
