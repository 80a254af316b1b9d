import { readFile } from "node:fs/promises";
import { createEpochs, type Epochs } from "@toolgate/epoch/epoch";
import type { connectRedis } from "@toolgate/epoch/redis";
import type { Bus } from "@toolgate/event-bus/connect";
import type { Outbox } from "@toolgate/event-bus/outbox";
import type { Pool } from "@toolgate/postgres/pool";
import { createRedactor } from "@toolgate/redaction/redactor";
import { createSafeFetch } from "@toolgate/safe-fetch/fetch";
import { Compiler } from "@toolgate/sandbox/compiler";
import type { PoolLimits } from "@toolgate/sandbox/limits";
import { openSandbox } from "@toolgate/sandbox/open";
import { createSecretBox, type SecretBox } from "@toolgate/secret-box/secret-box";
import { principalKeysOf } from "@toolgate/service-host/identity/principal-keys";
import { createTextReaders, type Grant, type TextReader } from "@toolgate/service-host/identity/signed-text";
import { createMailer } from "@toolgate/service-host/mailer";
import type { ServiceHost } from "@toolgate/service-host/service";
import type { Config } from "./config.ts";
import { HOST_FUNCTIONS } from "./domain/host-functions.ts";
import { createDataSources } from "./execution/data-sources/data-sources.ts";
import { createFindServer, type FindServer } from "./execution/data-sources/find-server.ts";
import type { ExecuteDependencies } from "./execution/execute.ts";
import { createHostCallSlots } from "./execution/host-calls/slots.ts";
import { createIdempotency } from "./execution/idempotency.ts";
import { createRecorder } from "./execution/record.ts";
import { createDefinitions } from "./execution/workspace/definitions.ts";
import { createWorkspaceValues } from "./execution/workspace/workspace-values.ts";

/** What runs of tools and the RPC handlers work with. */
export interface Context extends ExecuteDependencies {
  grants: TextReader<Grant>;
  epochs: Epochs;
  secretBox: SecretBox;
  findServer: FindServer;
  compiler: Compiler;
}

interface ContextOptions extends ServiceHost {
  pool: Pool;
  redis: ReturnType<typeof connectRedis>;
  bus: Bus;
  outbox: Outbox;
  sandboxLimits: Partial<PoolLimits> | undefined;
}

/** `resources` owns what it opens. */
export async function createContext(
  config: Config,
  { pool, redis, bus, outbox, peers, log, now, tls, sandboxLimits }: ContextOptions,
  resources: AsyncDisposableStack,
): Promise<Context> {
  const secretBox = createSecretBox({ keys: config.sealingKeys });
  const findServer = createFindServer(config.allowedDataSources);
  const epochs = createEpochs(redis);
  const compiler = resources.use(new Compiler());
  return {
    grants: createTextReaders({
      keySet: principalKeysOf(peers),
      now,
      onError: (error) => log.warn({ err: error }, "key-auth's public keys"),
    }).grants,
    pool,
    epochs,
    compiler,
    currentEpoch: (workspaceId) => epochs.current(`workspace:${workspaceId}`),
    secretBox,
    findServer,
    sandbox: resources.use(openSandbox(config.sandbox, { functions: HOST_FUNCTIONS, limits: sandboxLimits, log, tls })),
    safeFetch: resources.use(
      createSafeFetch({
        allowList: config.allowedTargets,
        applicationHosts: config.applicationHosts,
        schemes: ["https:", "http:"],
        ...(config.targetCaFile && { tls: { ca: await readFile(config.targetCaFile, "utf8") } }),
      }),
    ),
    definitions: createDefinitions(pool, compiler, { redis, now }),
    values: createWorkspaceValues({ pool, secretBox, redis, now }),
    sendMail: config.mail && resources.use(createMailer(config.mail)),
    dataSources: resources.use(createDataSources({ pool, secretBox, findServer, redis, now })),
    recorder: resources.use(createRecorder(bus)),
    idempotency: createIdempotency({ pool, secretBox, now }),
    outbox,
    redact: createRedactor(),
    slots: createHostCallSlots(),
    now,
  };
}
