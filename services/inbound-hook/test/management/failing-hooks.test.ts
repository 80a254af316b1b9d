import { eventually } from "@toolgate/testbed/eventually";
import { type MailTrap, startMailTrap } from "@toolgate/testbed/mail-trap";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type HookRig, startHookRig, type TestWorkspace } from "../hook-rig.ts";

const HOUR_MS = 3_600_000;

describe("the email about a hook that fails every verification", () => {
  let mailTrap: MailTrap;
  let rig: HookRig;
  let workspace: TestWorkspace;
  beforeAll(async () => {
    mailTrap = await startMailTrap();
    rig = await startHookRig({ smtpUrl: mailTrap.url });
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
  async function refuse(
    hookId: bigint,
    refused: number,
    { sinceMs = 1_000, lastMs = 0, used = true } = {},
  ): Promise<void> {
    const now = rig.clock.now().getTime();
    await rig.pool.query(
      `update inbound_hook.hook set refused_in_a_row = $2, last_received_at = $3,
         refused_since = $4::timestamptz + interval '123 microseconds', last_refused_at = $5 where id = $1`,
      [hookId, refused, used ? new Date(now - 2 * HOUR_MS) : null, new Date(now - sinceMs), new Date(now - lastMs)],
    );
  }
  const accept = (hookId: bigint) =>
    rig.pool.query(
      "update inbound_hook.hook set refused_in_a_row = 0, refused_since = null, last_received_at = now() where id = $1",
      [hookId],
    );
  const emailsAbout = (hookId: bigint) => mailTrap.emails.filter(({ text }) => text.includes(`hook ${hookId}`));
  const untilMailed = (hookId: bigint) => eventually(() => emailsAbout(hookId)[0] ?? false);
  /** Resolves once two hooks that failed later have been emailed, one after the other: those before them had their turn. */
  async function othersHadTheirTurn(): Promise<void> {
    for (let turn = 0; turn < 2; turn += 1) {
      const { id } = await workspace.createHook();
      await refuse(id, 20, { sinceMs: 0 });
      await untilMailed(id);
    }
  }

  it("[WMGMT] 20 failures in a row get one email to the workspace's admins, which names no secret", async () => {
    const { id, url, secret, hook } = await workspace.createHook({ name: "Orders" });
    await refuse(id, 20);
    const email = await untilMailed(id);
    expect(email.recipients).toEqual([`${workspace.code}@example.test`]);
    expect(email.text).toContain("Orders");
    expect(email.text).toContain("20 in a row");
    for (const hidden of [url.slice(-32), hook?.shownUrl ?? "", secret]) expect(email.text).not.toContain(hidden);
  });

  const mailed = async (hookId: bigint) =>
    (await rig.pool.query("select notified_since from inbound_hook.hook where id = $1", [hookId])).rows[0];

  it("[WMGMT] the same failures are emailed once, and new ones after an accepted call again", async () => {
    const { id } = await workspace.createHook();
    await refuse(id, 20);
    await untilMailed(id);
    await eventually(async () => (await mailed(id)).notified_since !== null);
    await rig.pool.query("update inbound_hook.hook set refused_in_a_row = 99 where id = $1", [id]);
    await othersHadTheirTurn();
    expect(emailsAbout(id)).toHaveLength(1);
    await accept(id);
    await refuse(id, 20);
    await eventually(() => emailsAbout(id).length === 2);
  });

  it("[WMGMT] 3 failures over an hour get an email; fewer, or fewer than 20 in less than an hour, do not", async () => {
    const made = () => workspace.createHook();
    const [long, short, few, ended] = [await made(), await made(), await made(), await made()];
    await refuse(short.id, 19, { sinceMs: HOUR_MS / 2 });
    await refuse(few.id, 2, { sinceMs: 2 * HOUR_MS });
    await refuse(ended.id, 19, { sinceMs: 2 * HOUR_MS, lastMs: 1.5 * HOUR_MS });
    await refuse(long.id, 3, { sinceMs: HOUR_MS + 1 });
    await untilMailed(long.id);
    await othersHadTheirTurn();
    expect([short, few, ended].flatMap(({ id }) => emailsAbout(id))).toEqual([]);
  });

  it("[WMGMT] a hook that was never used, is deactivated or is deleted gets no email", async () => {
    const [unused, inactive, deleted] = [
      await workspace.createHook(),
      await workspace.createHook(),
      await workspace.createHook(),
    ];
    await workspace.hooks.updateHook({ hookId: inactive.id, active: false });
    await workspace.hooks.deleteHook({ hookId: deleted.id });
    await refuse(unused.id, 50, { sinceMs: 2 * HOUR_MS, used: false });
    for (const { id } of [inactive, deleted]) await refuse(id, 50, { sinceMs: 2 * HOUR_MS });
    await othersHadTheirTurn();
    expect([unused, inactive, deleted].flatMap(({ id }) => emailsAbout(id))).toEqual([]);
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
});
