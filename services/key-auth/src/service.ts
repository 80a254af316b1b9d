import { LOOK_FOR_TODAY_MS } from "@toolgate/postgres/retention";
import { createSecretBox } from "@toolgate/secret-box/secret-box";
import { openConnections } from "@toolgate/service-host/connections";
import { runEvery } from "@toolgate/service-host/every";
import { startLoops } from "@toolgate/service-host/loops";
import type { Service, ServiceDefinition, ServiceHost } from "@toolgate/service-host/service";
import { type Config, NEEDS, readConfig } from "./config.ts";
import { createContext } from "./context.ts";
import { consumeAuditRecords } from "./events/audit-records.ts";
import { ensurePartitions, maintainTables } from "./events/daily-job.ts";
import { consumeUsageRecords } from "./events/usage-records.ts";
import { registerRoutes } from "./rpc/routes.ts";
import { authorizeHandler } from "./rpc/sessions/authorize.ts";
import { verifyHandler } from "./rpc/verify.ts";
import { listLockedWorkspacesHandler } from "./rpc/workspaces/list-locked-workspaces.ts";

const NAME = "key-auth";
const DAILY_JOB_EVERY_MS = 3_600_000;

/** For tests. */
export interface Overrides {
  /** Pause between two runs of the daily job, which is safe to repeat. */
  dailyJobEveryMs?: number;
}

export interface KeyAuth extends Service {
  readonly hotCalls: {
    verify: ReturnType<typeof verifyHandler>;
    authorize: ReturnType<typeof authorizeHandler>;
    listLockedWorkspaces: ReturnType<typeof listLockedWorkspacesHandler>;
  };
}

export const service: ServiceDefinition<Config> = { name: NAME, readConfig, start };

export async function start(config: Config, host: ServiceHost, overrides: Overrides = {}): Promise<KeyAuth> {
  const { log, now } = host;
  const onError = (what: string) => (error: unknown) => log.error({ err: error }, what);
  await using resources = new AsyncDisposableStack();
  const { pool, redis, bus } = await openConnections({ name: NAME, needs: NEEDS, log }, config, resources);
  const secretBox = createSecretBox({ keys: config.sealingKeys });
  const dailyJob = () => maintainTables(pool, secretBox, new Date(now()));
  const ensure = () => ensurePartitions(pool, new Date(now()));
  await dailyJob();
  const context = createContext({ pool, redis, secretBox, sealingKeys: config.sealingKeys, host }, resources);
  const running = resources.use(
    startLoops({
      producers: [
        (signal) => consumeUsageRecords({ bus, pool, now, signal, onError: onError("usage records") }),
        (signal) => consumeAuditRecords({ bus, pool, signal, onError: onError("audit records") }),
        (signal) => runEvery(overrides.dailyJobEveryMs ?? DAILY_JOB_EVERY_MS, signal, dailyJob, onError("daily job")),
        (signal) => runEvery(LOOK_FOR_TODAY_MS, signal, ensure, onError("partitions")),
      ],
    }),
  );
  const owned = resources.move();
  return {
    hotCalls: {
      verify: verifyHandler(context),
      authorize: authorizeHandler(context),
      listLockedWorkspaces: listLockedWorkspacesHandler(context),
    },
    routes: (router) => registerRoutes(router, context),
    principalKeys: () => context.tokens.keySet(),
    async ready() {
      await pool.query("select 1");
    },
    drain: () => running.stop(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
