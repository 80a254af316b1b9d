import { connectRedis, untilReady } from "@toolgate/epoch/redis";
import { type Findings, type Member, messageOf, RESPONSE_MS } from "./finding.ts";

export async function checkRedis(members: readonly Member[], findings: Findings): Promise<void> {
  for (const member of members)
    if (member.env.REDIS_URL && member.needs.includes("redis")) await checkMember(member, findings);
}

async function checkMember({ user, env }: Member, findings: Findings): Promise<void> {
  const { name, redisKeys } = user;
  const refused = Promise.withResolvers<never>();
  refused.promise.catch(() => {});
  const address = { url: env.REDIS_URL ?? "", caFile: env.SERVERS_CA_FILE ?? "" };
  const limits = { commandTimeoutMs: RESPONSE_MS, onError: refused.reject };
  const redis = connectRedis({ ...address, ...limits, name: "doctor" });
  try {
    await Promise.race([untilReady(redis, RESPONSE_MS), refused.promise]);
    for (const pattern of redisKeys) {
      const key = pattern.replace(/\*$/, "doctor");
      await redis.eval("return redis.call('get', KEYS[1])", 1, key).catch((error) => {
        findings.add("permissions", `${name} may not use its keys ${pattern} in Redis: ${messageOf(error)}`);
      });
    }
    checkServer(await redis.info(), findings);
  } catch (error) {
    findings.add("servers", `${name} cannot use Redis: ${messageOf(error)}`);
  } finally {
    redis.disconnect();
  }
}

function checkServer(info: string, findings: Findings): void {
  const value = (field: string) => new RegExp(`^${field}:(.*)$`, "m").exec(info)?.[1]?.trim();
  if (value("aof_enabled") === "0")
    findings.add("servers", "Redis keeps nothing on disk (appendonly is off): after a restart all limits begin again");
  const policy = value("maxmemory_policy");
  if (policy !== "noeviction" && Number(value("maxmemory")) > 0)
    findings.add("servers", `Redis drops keys when its memory is full: maxmemory-policy is ${policy}, not noeviction`);
}
