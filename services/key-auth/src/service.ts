import type { Transport } from "@connectrpc/connect";
import { serveCalls } from "@toolgate/call-stream/serve";
import { createEpochs } from "@toolgate/epoch/epoch";
import { connectRedis, untilReady } from "@toolgate/epoch/redis";
import { connectBus } from "@toolgate/event-bus/connect";
import { VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { assertMigrated } from "@toolgate/postgres/migrate";
import { createPool } from "@toolgate/postgres/pool";
import { createSecretBox } from "@toolgate/secret-box/secret-box";
import { runEvery } from "@toolgate/service-host/every";
import type { Logger } from "@toolgate/service-host/logger";
import type { Service } from "@toolgate/service-host/service";
import { createTools } from "./clients/tools.ts";
import type { Config } from "./config.ts";
import type { Context } from "./context.ts";
import { consumeAuditRecords } from "./events/audit-records.ts";
import { createBackground } from "./events/background.ts";
import { keepUp } from "./events/upkeep.ts";
import { consumeUsageRecords } from "./events/usage-records.ts";
import { createPasswordTurns } from "./login/password-turns.ts";
import { createLocalThrottle, createRedisThrottle, withFallback } from "./login/throttle.ts";
import { createTokens } from "./login/tokens.ts";
import { registerRoutes } from "./rpc/routes.ts";
import { type VerifyHandler, verifyHandler } from "./rpc/verify.ts";
import { MIGRATIONS_DIR, SCHEMA } from "./schema.ts";
import { listSigningKeys } from "./store/signing-keys.ts";
import { loadForVerification } from "./store/verification.ts";
import { createRedisGate } from "./verification/gate.ts";
import { createLocalCounter } from "./verification/local-counter.ts";
import { createRowLoader } from "./verification/row-loader.ts";
import { createVerifier } from "./verification/verifier.ts";

const REDIS_DEADLINE_MS = 10_000;
const UPKEEP_EVERY_MS = 3_600_000;

export interface KeyAuthDependencies {
  log: Logger;
  /** Reaches tool-runner. */
  toolRunner: Transport;
  now?: () => number;
  /** How often the daily job runs; it is safe to repeat, and late by as much at most. */
  upkeepEveryMs?: number;
}

export interface KeyAuth extends Service {
  /** The hot call, for callers in this process. */
  verify: VerifyHandler;
}

export async function startKeyAuth(config: Config, deps: KeyAuthDependencies): Promise<KeyAuth> {
  const { log, toolRunner, now = Date.now, upkeepEveryMs = UPKEEP_EVERY_MS } = deps;
  const onError = (what: string) => (error: unknown) => log.error({ err: error }, what);
  await using resources = new AsyncDisposableStack();
  const { pool, redis, bus } = await connect(config, resources, log);
  const box = createSecretBox({ keys: config.sealingKeys });
  const upkeep = () => keepUp(pool, box, new Date(now()));
  await upkeep();

  const gate = createRedisGate(redis);
  const verifier = createVerifier({
    gate,
    load: createRowLoader((hashes) => loadForVerification(pool, hashes)),
    localCounter: createLocalCounter(),
    now,
    onGateError: onError("redis cannot decide; deciding from postgres"),
  });
  redis.on("ready", () => verifier.forget());

  const background = resources.use(createBackground(onError("after the answer")));
  const clock = () => new Date(now());
  const context: Context = {
    pool,
    epochs: createEpochs(redis),
    tools: createTools(toolRunner),
    gate,
    tokens: createTokens({ signingKeys: () => listSigningKeys(pool), box, now: clock }),
    inPasswordTurn: createPasswordTurns(),
    throttle: withFallback(
      createRedisThrottle(redis),
      createLocalThrottle(now),
      onError("redis cannot count logins; counting in this process"),
    ),
    now: clock,
    afterwards: background.add,
  };
  const stopping = new AbortController();
  const verify = verifyHandler(verifier);
  const verifyCalls = serveCalls({
    method: VerifyService.method.verify,
    handler: verify,
    drainSignal: stopping.signal,
    onError: onError("verify"),
  });
  const loops = Promise.all([
    consumeUsageRecords({ bus, pool, now, signal: stopping.signal, onError: onError("usage records") }),
    consumeAuditRecords({ bus, pool, signal: stopping.signal, onError: onError("audit records") }),
    runEvery(upkeepEveryMs, stopping.signal, upkeep, onError("upkeep")),
  ]);
  resources.defer(async () => {
    stopping.abort();
    await loops;
  });

  const owned = resources.move();
  return {
    verify,
    routes: (router) => registerRoutes(router, context, { verify, verifyCalls }),
    async ready() {
      await pool.query("select 1");
    },
    async drain() {
      stopping.abort();
      await loops;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Opens what key-auth lives on; `resources` owns it. */
async function connect(config: Config, resources: AsyncDisposableStack, log: Logger) {
  const onError = (what: string) => (error: unknown) => log.error({ err: error }, what);
  const pool = resources.adopt(
    createPool({
      url: config.databaseUrl,
      maxConnections: config.databaseConnections,
      applicationName: "key-auth",
      onIdleError: onError("postgres connection lost"),
    }),
    (owned) => owned.end(),
  );
  await assertMigrated({ pool, schema: SCHEMA, dir: MIGRATIONS_DIR });
  const redis = resources.adopt(
    connectRedis({ url: config.redisUrl, name: "key-auth", onError: onError("redis connection") }),
    (owned) => owned.disconnect(),
  );
  await untilReady(redis, REDIS_DEADLINE_MS);
  const bus = resources.use(
    await connectBus({ servers: config.natsUrl, name: "key-auth", log: (message) => log.warn(message) }),
  );
  return { pool, redis, bus };
}
