import { eventually } from "@toolgate/testbed/eventually";
import { expect, it } from "vitest";
import { startOutboundRig } from "../outbound-rig.ts";

const EVENTS = 20;

it("[NFR] a delivery that is delivered at the first attempt is written to no index a second time", async () => {
  await using rig = await startOutboundRig();
  await rig.register("w", "/1");
  for (let sent = 0; sent < EVENTS; sent += 1) await rig.report({ workspaceId: "w" });
  await eventually(async () => {
    const { rows } = await rig.pool.query(
      `select sum(n_tup_upd)::int as updated, sum(n_tup_hot_upd)::int as "inPlace" from pg_stat_user_tables
       where schemaname = 'outbound_webhook' and relname ~ '^delivery_[0-9]{8}$'`,
    );
    expect(rows[0].updated).toBeGreaterThanOrEqual(EVENTS);
    expect(rows[0]).toEqual({ updated: EVENTS, inPlace: EVENTS });
    return true;
  });
});
