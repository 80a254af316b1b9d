import { eventually } from "@toolgate/testbed/eventually";
import { startMailTrap } from "@toolgate/testbed/mail-trap";
import { expect, test } from "vitest";
import { startRunRig } from "../running/run-rig.ts";

test("[WMGMT] the figures of a hook count its calls; 20 refused calls after an accepted one, or 3 over an hour, get an email", async () => {
  await using mailTrap = await startMailTrap();
  await using rig = await startRunRig({ smtpUrl: mailTrap.url });
  const workspace = await rig.newWorkspace();
  await workspace.saveTool("failing", {
    inbound_hook: true,
    handler: 'export default () => { throw new Error("broken"); };',
  });
  const target = { target: { case: "tool", value: "failing" } } as const;
  const hook = await workspace.createHook({ target });
  const figures = async () => (await workspace.hooks.getHook({ hookId: hook.id })).hook;
  const refuse = async (count: number) => {
    for (let call = 0; call < count; call += 1) {
      const response = await rig.sendSigned({ url: hook.url, secret: "wrong-secret" });
      expect(response.status).toBe(401);
    }
  };

  await refuse(1);
  await eventually(async () => expect((await figures())?.refusedInARow).toBe(1));
  const deliveryId = await rig.accept(hook, { n: 1 });
  await rig.ended(deliveryId);
  await eventually(async () =>
    expect(await figures()).toMatchObject({ refusedInARow: 0, deliveriesLast24h: 1, failedLast24h: 1 }),
  );
  expect((await figures())?.lastReceivedAt).toBeDefined();
  const [listed] = (await workspace.hooks.listHooks({})).hooks;
  expect(listed).toMatchObject({ deliveriesLast24h: 1, failedLast24h: 1 });

  await refuse(20);
  await eventually(async () => expect((await figures())?.refusedInARow).toBe(20));
  const email = await eventually(() => mailTrap.emails[0] ?? false);
  expect(email.text).toContain(`hook ${hook.id}`);

  await rig.accept(hook, { n: 2 });
  await eventually(async () => expect((await figures())?.refusedInARow).toBe(0));
  await refuse(2);
  await eventually(async () => expect((await figures())?.refusedInARow).toBe(2));
  rig.clock.advance(3_600_000);
  await refuse(1);
  await eventually(() => mailTrap.emails[1] ?? false);

  rig.clock.advance(25 * 3_600_000);
  expect(await figures()).toMatchObject({ deliveriesLast24h: 0, failedLast24h: 0 });
});
