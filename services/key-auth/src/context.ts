import { createEpochs, type Epochs } from "@toolgate/epoch/epoch";
import type { connectRedis } from "@toolgate/epoch/redis";
import { createRowLoader } from "@toolgate/epoch/row-loader";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import type { ServiceHost } from "@toolgate/service-host/service";
import { createTools, type Tools } from "./clients/tools.ts";
import type { Config } from "./config.ts";
import { createDevices, type Devices } from "./domain/devices.ts";
import { createBackground } from "./events/background.ts";
import { createPasswordHashes, type PasswordHashes } from "./login/password-hashes.ts";
import { createPrincipals, type Principals } from "./login/principals.ts";
import { createLoginThrottle, type LoginThrottle } from "./login/throttle.ts";
import { createTokens, type Tokens } from "./login/tokens.ts";
import { listSigningKeys } from "./store/signing-keys.ts";
import { loadForVerification } from "./store/verification.ts";
import { type Admission, createRedisAdmission } from "./verification/admission.ts";
import { createGrants, type Grants } from "./verification/grants.ts";
import { createVerifier, type Verifier } from "./verification/verifier.ts";

/** What the RPC handlers work with. */
export interface Context {
  pool: Pool;
  epochs: Epochs;
  tools: Tools;
  admission: Pick<Admission, "used" | "lastAccepted">;
  verifier: Verifier;
  tokens: Tokens;
  principals: Principals;
  grants: Grants;
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
  const signing = { signingKeys: () => listSigningKeys(pool), box: secretBox, now: clock };
  const admission = createRedisAdmission(redis);
  const verifier = createVerifier({
    redis,
    admission,
    load: createRowLoader({
      query: (hashes) => loadForVerification(pool, hashes),
      hashOf: (row) => row.secretHash,
      now,
    }),
    now,
    onAdmissionError: onError("redis cannot decide; deciding from postgres"),
  });
  return {
    pool,
    epochs: createEpochs(redis),
    tools: createTools(peers.transport("tool-runner")),
    admission,
    verifier,
    tokens: createTokens(signing),
    principals: createPrincipals(signing),
    grants: createGrants({ ...signing, onError: onError("signing keys") }),
    passwordHashes: createPasswordHashes(),
    devices: createDevices({ keys: sealingKeys, now }),
    throttle: createLoginThrottle(redis),
    now: clock,
    afterwards: resources.use(createBackground(onError("after the response"))).add,
  };
}
