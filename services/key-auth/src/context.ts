import { type CallCounter, createCallCounter } from "@toolgate/epoch/call-counter";
import { createEpochs, type Epochs } from "@toolgate/epoch/epoch";
import type { connectRedis } from "@toolgate/epoch/redis";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { type Grant, signGrant, signPrincipal } from "@toolgate/service-host/identity/signed-text";
import type { Principal } from "@toolgate/service-host/principal";
import type { ServiceHost } from "@toolgate/service-host/service";
import { createTools, type Tools } from "./clients/tools.ts";
import type { Config } from "./config.ts";
import { createDevices, type Devices } from "./domain/devices.ts";
import { createBackground } from "./events/background.ts";
import { createPasswordHashes, type PasswordHashes } from "./login/password-hashes.ts";
import { createSignedTexts, type SignedTexts } from "./login/signed-texts.ts";
import { createSigner } from "./login/signing-keys.ts";
import { createLoginThrottle, type LoginThrottle } from "./login/throttle.ts";
import { createTokens, type Tokens } from "./login/tokens.ts";
import { loadForVerification } from "./store/verification.ts";
import { createVerifiableKeys, type VerifiableKeys } from "./verification/verifiable-keys.ts";

const MAX_CACHED_PRINCIPALS = 10_000;
const MAX_CACHED_GRANTS = 20_000;

/** What the RPC handlers work with. */
export interface Context {
  pool: Pool;
  epochs: Epochs;
  tools: Tools;
  keys: VerifiableKeys;
  /** The calls of keys. */
  counter: CallCounter;
  tokens: Tokens;
  principalText: SignedTexts<Principal>;
  grantText: SignedTexts<Grant>;
  throttle: LoginThrottle;
  devices: Devices;
  passwordHashes: PasswordHashes;
  now: () => Date;
  /** Work that no response waits for; a failure is logged, and the service waits for it when it stops. */
  afterwards: (work: Promise<unknown>) => void;
}

interface ContextOptions {
  pool: Pool;
  redis: ReturnType<typeof connectRedis>;
  secretBox: SecretBox;
  sealingKeys: Config["sealingKeys"];
  host: ServiceHost;
}

/** `resources` owns what it opens. */
export function createContext(
  { pool, redis, secretBox, sealingKeys, host }: ContextOptions,
  resources: AsyncDisposableStack,
): Context {
  const { log, now, peers } = host;
  const onError = (what: string) => (error: unknown) => log.error({ err: error }, what);
  const clock = () => new Date(now());
  const signer = createSigner(pool, secretBox, { redis, now });
  const counter = createCallCounter(redis, { kind: "key", counters: "toolgate:calls", lastKey: "toolgate:accepted" });
  return {
    pool,
    epochs: createEpochs(redis),
    tools: createTools(peers.transport("tool-runner")),
    keys: createVerifiableKeys({
      find: (hash) => loadForVerification(pool, hash),
      counter,
      redis,
      now,
      onRedisError: onError("redis cannot decide; deciding from postgres"),
    }),
    counter,
    tokens: createTokens(pool, signer, clock),
    principalText: createSignedTexts({ sign: signPrincipal, signer, now, maxCached: MAX_CACHED_PRINCIPALS }),
    grantText: createSignedTexts({ sign: signGrant, signer, now, maxCached: MAX_CACHED_GRANTS }),
    passwordHashes: createPasswordHashes(),
    devices: createDevices({ keys: sealingKeys, now }),
    throttle: createLoginThrottle(redis),
    now: clock,
    afterwards: resources.use(createBackground(onError("after the response"))).add,
  };
}
