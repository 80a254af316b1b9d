import { eventually } from "@toolgate/testbed/eventually";
import { type MailTrap, startMailTrap } from "@toolgate/testbed/servers/mail-trap";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { TestWorkspace } from "../hook-rig.ts";
import { type RunRig, startRunRig } from "../running/run-rig.ts";

const HOUR_MS = 3_600_000;

let mailTrap: MailTrap;
let rig: RunRig;
let workspace: TestWorkspace;
beforeAll(async () => {
  mailTrap = await startMailTrap();
  rig = await startRunRig({ smtpUrl: mailTrap.url });
  workspace = await rig.newWorkspace();
});
beforeEach(() => {
  mailTrap.emails.length = 0;
});
afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
  await mailTrap?.[Symbol.asyncDispose]();
});

/** What the receiver writes: `refused` calls in a row, the first of them `sinceMs` ago and the last one `lastMs`. */
async function refuse(hookId: bigint, refused: number, { sinceMs = 1_000, lastMs = 0, used = true } = {}) {
  const now = rig.clock.now().getTime();
  await rig.pool.query(
    `update inbound_hook.hook set refused_in_a_row = $2, last_received_at = $3,
       refused_since = $4, last_refused_at = $5 where id = $1`,
    [hookId, refused, used ? new Date(now - 2 * HOUR_MS) : null, new Date(now - sinceMs), new Date(now - lastMs)],
  );
}
const emailsAbout = (hookId: bigint) => mailTrap.emails.filter(({ text }) => text.includes(`hook ${hookId}`));
const untilMailed = (hookId: bigint) => eventually(() => emailsAbout(hookId)[0] ?? false);
/** Whether a process has begun to tell the admins, or has told them. */
async function isClaimed(hookId: bigint): Promise<boolean> {
  const { rows } = await rig.pool.query(
    "select notifying_until is not null or notified_since is not null as claimed from inbound_hook.hook where id = $1",
    [hookId],
  );
  return rows[0].claimed;
}

it("[WMGMT] 20 failures in a row get one email to the workspace's admins, which names no secret", async () => {
  const { id, url, secret, hook } = await workspace.createHook({ name: "Orders" });
  await refuse(id, 20);
  const email = await untilMailed(id);
  expect(email.recipients).toEqual([`${workspace.code}@example.test`]);
  expect(email.text).toContain("Orders");
  expect(email.text).toContain("20 in a row");
  for (const hidden of [url.slice(-32), hook?.shownUrl ?? "", secret]) expect(email.text).not.toContain(hidden);
  // The same series gets no second one.
  await rig.pool.query("update inbound_hook.hook set refused_in_a_row = 99 where id = $1", [id]);
  const next = await workspace.createHook();
  await refuse(next.id, 20, { sinceMs: 0 });
  await untilMailed(next.id);
  expect(emailsAbout(id)).toHaveLength(1);
});

it("[WMGMT] 3 failures over an hour get an email; fewer, or of a hook that is unused, deactivated or deleted, do not", async () => {
  const made = () => workspace.createHook();
  const [long, short, few, ended, unused] = [await made(), await made(), await made(), await made(), await made()];
  const [inactive, deleted] = [await made(), await made()];
  await workspace.hooks.updateHook({ hookId: inactive.id, active: false });
  await workspace.hooks.deleteHook({ hookId: deleted.id });
  await refuse(short.id, 19, { sinceMs: HOUR_MS / 2 });
  await refuse(few.id, 2, { sinceMs: 2 * HOUR_MS });
  await refuse(ended.id, 19, { sinceMs: 2 * HOUR_MS, lastMs: 1.5 * HOUR_MS });
  await refuse(unused.id, 50, { sinceMs: 2 * HOUR_MS, used: false });
  for (const { id } of [inactive, deleted]) await refuse(id, 50, { sinceMs: 2 * HOUR_MS });
  await refuse(long.id, 3, { sinceMs: HOUR_MS + 1 });
  await untilMailed(long.id);
  // All were due before it, so the claim that found it would have found them.
  for (const { id } of [short, few, ended, unused, inactive, deleted]) expect(await isClaimed(id)).toBe(false);
  // The overview also has one that has never worked.
  const all = [long, short, few, ended, unused, inactive, deleted].map(({ id }) => id);
  const { failing } = await workspace.hooks.getHookOverview({});
  expect(failing.map(({ id }) => id).filter((id) => all.includes(id))).toEqual([unused.id, long.id]);
});

it("[WMGMT] an email that the server refuses is sent again later", async () => {
  const { id } = await workspace.createHook();
  mailTrap.refuse(true);
  const before = mailTrap.refusals;
  await refuse(id, 20);
  await eventually(() => mailTrap.refusals > before);
  mailTrap.refuse(false);
  rig.clock.advance(180_000);
  await untilMailed(id);
  expect(emailsAbout(id)).toHaveLength(1);
});

it("[WMGMT] the figures of a hook count its calls, and an accepted call ends a series of refused ones", async () => {
  await workspace.saveTool("failing", {
    inbound_hook: true,
    handler: 'export default () => { throw new Error("broken"); };',
  });
  const hook = await workspace.createHook({ target: { target: { case: "tool", value: "failing" } } });
  const figures = async () => (await workspace.hooks.getHook({ hookId: hook.id })).hook;
  const refuseCalls = async (count: number) => {
    for (let call = 0; call < count; call += 1)
      expect(await rig.sendSigned({ url: hook.url, secret: "wrong-secret" })).toMatchObject({ status: 401 });
  };
  await refuseCalls(1);
  await eventually(async () => expect((await figures())?.refusedInARow).toBe(1));
  await rig.ended(await rig.accept(hook, { n: 1 }));
  const expected = { refusedInARow: 0, deliveriesLast24h: 1, failedLast24h: 1, lastReceivedAt: expect.anything() };
  await eventually(async () => expect(await figures()).toMatchObject(expected));
  const { hooks } = await workspace.hooks.listHooks({});
  expect(hooks.find(({ id }) => id === hook.id)).toMatchObject({ deliveriesLast24h: 1, failedLast24h: 1 });

  await refuseCalls(20);
  await untilMailed(hook.id);
  await rig.accept(hook, { n: 2 });
  await eventually(async () => expect((await figures())?.refusedInARow).toBe(0));
  // A new series gets a new email.
  await refuseCalls(20);
  await eventually(() => emailsAbout(hook.id).length === 2);
  rig.clock.advance(25 * HOUR_MS);
  expect(await figures()).toMatchObject({ deliveriesLast24h: 0, failedLast24h: 0 });
});
