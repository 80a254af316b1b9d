import type { Pool } from "@toolgate/postgres/pool";
import type { AdminNotices } from "@toolgate/service-host/admin-notices";
import { claimFailingHooks, type FailingHook, settleFailingHook } from "../store/failing-hooks.ts";

/** Notices about hooks that have accepted calls before, and whose calls now all fail verification. */
export function failingHookNotices(pool: Pool): AdminNotices<FailingHook> {
  return {
    claim: (now) => claimFailingHooks(pool, now),
    settle: (hook) => settleFailingHook(pool, hook),
    emailFor: noticeText,
  };
}

/** Names the hook by number and name only: its URL is a secret. */
function noticeText(hook: FailingHook): { subject: string; text: string } {
  const { hookId, name, workspace, refusedInARow, refusedSince, lastReceivedAt } = hook;
  return {
    subject: `Incoming hook ${hookId} of ${workspace} refuses every call`,
    text: [
      `The incoming hook ${hookId} (${name}) of the workspace ${workspace} has refused every call since`,
      `${refusedSince.toISOString()}, ${refusedInARow} in a row: their signature or token was missing or wrong. It accepted its`,
      `last call at ${lastReceivedAt.toISOString()}.`,
      "",
      "Usually the secret was replaced on one side only, or the sender's clock is wrong. Under Manage, Webhooks you can",
      "rotate the hook's secret. You get no further email about it until it has accepted a call again.",
      "",
    ].join("\n"),
  };
}
