import { createEpochs } from "@toolgate/epoch/epoch";
import { createSecretBox } from "@toolgate/secret-box/secret-box";
import { openConnections } from "@toolgate/service-host/connections";
import { runEvery } from "@toolgate/service-host/every";
import { startLoops } from "@toolgate/service-host/loops";
import type { Service, ServiceDefinition, ServiceHost } from "@toolgate/service-host/service";
import { createTools } from "./clients/tools.ts";
import { type Config, NEEDS, readConfig } from "./config.ts";
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
import { listSigningKeys } from "./store/signing-keys.ts";
import { loadForVerification } from "./store/verification.ts";
import { createRedisGate } from "./verification/gate.ts";
import { createLocalCounter } from "./verification/local-counter.ts";
import { createRowLoader } from "./verification/row-loader.ts";
import { createVerifier } from "./verification/verifier.ts";

const NAME = "key-auth";
const UPKEEP_EVERY_MS = 3_600_000;

/** For tests. */
export interface Overrides {
  /** How often the daily job runs; it is safe to repeat, and late by as much at most. */
  upkeepEveryMs?: number;
}

export interface KeyAuth extends Service {
  readonly hotCalls: { verify: VerifyHandler };
}

export const service: ServiceDefinition<Config> = { name: NAME, readConfig, start };

export async function start(config: Config, host: ServiceHost, overrides: Overrides = {}): Promise<KeyAuth> {
  const { log, now, peers } = host;
  const onError = (what: string) => (error: unknown) => log.error({ err: error }, what);
  await using resources = new AsyncDisposableStack();
  const { pool, redis, bus } = await openConnections({ name: NAME, needs: NEEDS, log }, config, resources);
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
    tools: createTools(peers.transport("tool-runner")),
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
  const running = resources.use(
    startLoops({
      producers: [
        (signal) => consumeUsageRecords({ bus, pool, now, signal, onError: onError("usage records") }),
        (signal) => consumeAuditRecords({ bus, pool, signal, onError: onError("audit records") }),
        (signal) => runEvery(overrides.upkeepEveryMs ?? UPKEEP_EVERY_MS, signal, upkeep, onError("upkeep")),
      ],
    }),
  );
  const owned = resources.move();
  return {
    hotCalls: { verify: verifyHandler(verifier) },
    routes: (router) => registerRoutes(router, context),
    async ready() {
      await pool.query("select 1");
    },
    drain: () => running.stop(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
