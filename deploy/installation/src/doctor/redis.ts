import { connectRedis, untilReady } from "@toolgate/epoch/redis";
import type { Env } from "@toolgate/service-host/env";
import type { Clocks } from "./clocks.ts";
import { type Findings, messageOf, RESPONSE_MS } from "./finding.ts";
import type { Installation, Member } from "./installation.ts";
import { checkVersion, type Supported } from "./versions.ts";

type Redis = ReturnType<typeof connectRedis>;

/** A key that no service has. */
const FOREIGN_KEY = "doctor:probe";
const LOGINS =
  "Run logins-main.ts again, copy redis-users.conf to the server and restart it: docs/operators.md, Logins.";

export async function checkRedis(
  installation: Installation,
  clocks: Clocks,
  supported: Supported,
  findings: Findings,
): Promise<void> {
  const members = installation.members.filter(({ needs, env }) => needs.includes("redis") && env.REDIS_URL);
  await Promise.all(members.map((member) => checkMember(member, clocks, supported, findings)));
}

async function checkMember(
  { user, env }: Member,
  clocks: Clocks,
  supported: Supported,
  findings: Findings,
): Promise<void> {
  const { name, redisKeys } = user;
  let redis: Redis | undefined;
  try {
    const refused = Promise.withResolvers<never>();
    refused.promise.catch(() => {});
    redis = connectRedis({
      url: env.REDIS_URL ?? "",
      caFile: env.SERVERS_CA_FILE ?? "",
      name: "doctor",
      commandTimeoutMs: RESPONSE_MS,
      onError(error) {
        if (isRefusal(error)) refused.reject(error);
      },
    });
    await Promise.race([untilReady(redis, RESPONSE_MS), refused.promise]);
  } catch (error) {
    findings.add(
      "servers",
      `${name} cannot use Redis: ${messageOf(error)}`,
      `Check that the server runs, and REDIS_URL. ${LOGINS}`,
    );
    redis?.disconnect();
    return;
  }
  try {
    await checkClock(redis, clocks);
    await checkKeys(redis, name, redisKeys, findings);
    const value = valuesIn(await redis.info());
    checkVersion("Redis", value("redis_version"), supported, findings);
    checkMemory(value, findings);
    if (isProduction(env)) checkDisk(value, findings);
  } catch (error) {
    findings.add("permissions", `Redis refuses ${name} a command: ${messageOf(error)}`, LOGINS);
  } finally {
    redis.disconnect();
  }
}

/** The connection would be tried again, but not with another outcome. */
function isRefusal(error: Error): boolean {
  return error.name === "ReplyError" || /ECONNREFUSED|ENOTFOUND|certificate/.test(messageOf(error));
}

async function checkClock(redis: Redis, clocks: Clocks): Promise<void> {
  const sentAt = clocks.now();
  const [seconds = 0] = await redis.time();
  clocks.compare("Redis", Number(seconds) * 1_000, sentAt, 1_000);
}

async function checkKeys(redis: Redis, name: string, patterns: readonly string[], findings: Findings): Promise<void> {
  for (const pattern of patterns) {
    const key = pattern.replace(/\*$/, "doctor");
    await redis.eval("return redis.call('get', KEYS[1])", 1, key).catch((error) => {
      findings.add("permissions", `${name} may not use its keys ${pattern} in Redis: ${messageOf(error)}`, LOGINS);
    });
  }
  const reached = await redis.get(FOREIGN_KEY).then(
    () => true,
    () => false,
  );
  if (reached)
    findings.add(
      "permissions",
      `${name} may use keys of Redis that are not its own`,
      `Give it a login of its own. ${LOGINS}`,
    );
}

type Values = (field: string) => string | undefined;

const valuesIn =
  (info: string): Values =>
  (field) =>
    new RegExp(`^${field}:(.*)$`, "m").exec(info)?.[1]?.trim();

const isProduction = ({ NODE_ENV }: Env) => (NODE_ENV || "production") === "production";

function checkDisk(value: Values, findings: Findings): void {
  if (value("aof_enabled") !== "0") return;
  findings.add(
    "servers",
    "Redis keeps nothing on disk (appendonly is off): after a restart all limits begin again",
    "Set appendonly to yes in redis.conf and, on the server that runs, with CONFIG SET appendonly yes.",
  );
}

function checkMemory(value: Values, findings: Findings): void {
  const policy = value("maxmemory_policy") ?? "noeviction";
  if (policy === "noeviction" || Number(value("maxmemory") ?? 0) === 0) return;
  findings.add(
    "servers",
    `Redis drops keys when its memory is full (maxmemory-policy ${policy}), and limits count wrong then`,
    "Set maxmemory-policy to noeviction.",
  );
}
