import { adminNoticeLoop } from "@toolgate/service-host/admin-notices";
import type { Loop } from "@toolgate/service-host/loops";
import type { ServiceHost } from "@toolgate/service-host/service";
import type { RunnerConfig } from "../config.ts";
import type { Context } from "../context.ts";
import { failingHookNotices } from "../events/failing-hook-notices.ts";

/** Part of the role runner: emails admins about hooks that fail every verification. None without an SMTP server. */
export function noticeLoops(
  { pool, now }: Context,
  { mail }: Pick<RunnerConfig, "mail">,
  { log, peers }: Pick<ServiceHost, "log" | "peers">,
  resources: AsyncDisposableStack,
): Loop[] {
  if (!mail) {
    log.warn("SMTP_URL is not set: email about failing hooks waits");
    return [];
  }
  const onError = (error: unknown) => log.error({ err: error }, "notice email");
  return [adminNoticeLoop(failingHookNotices(pool), { mail, peers, now, onError }, resources)];
}
