import { connectRedis, untilReady } from "@toolgate/epoch/redis";
import { connectBus } from "@toolgate/event-bus/connect";
import { SERVER_USERS, subjectsOf } from "@toolgate/service-registry/server-users";
import { SERVICES } from "@toolgate/service-registry/services";
import { eventually } from "@toolgate/testbed/eventually";
import { type TestServer, testNats, testRedis } from "@toolgate/testbed/servers/servers";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";

let nats: TestServer;
let redis: TestServer;
beforeAll(async () => {
  [nats, redis] = await Promise.all([testNats(), testRedis()]);
});
afterAll(() => Promise.all([nats[Symbol.asyncDispose](), redis[Symbol.asyncDispose]()]));

const USERS = SERVER_USERS.map((user) => [user.name, user] as const);
const matches = (pattern: string, subject: string) =>
  new RegExp(`^${pattern.replaceAll(/[.$]/g, "\\$&").replace(/\*/g, "[^.]+").replace(/>$/, ".+")}$`).test(subject);

/** What the server said was not permitted, while `work` ran as a user. */
async function refusedAt(user: string, work: (bus: Awaited<ReturnType<typeof connectBus>>) => Promise<void>) {
  await using bus = await connectBus({ servers: nats.urls[user] ?? "", name: "test" });
  const refused: string[] = [];
  void (async () => {
    for await (const status of bus.nc.status()) if (status.type === "error") refused.push(String(status.error));
  })();
  await work(bus);
  await bus.nc.flush();
  return eventually(async () => {
    await bus.nc.flush();
    return { refused: refused.join("\n") };
  });
}

const SUBJECTS = [
  "records.usage",
  "records.audit",
  "records.execution",
  "calls.record",
  "events.tool-runner",
  "settled.tool-runner",
  "attempts.send",
  "attempts.done",
  "dispatch.wake",
  "hook-runs.tool",
  "chat.events.1",
  "chat.stop",
  "$JS.API.STREAM.DELETE.RECORDS",
  "$JS.API.STREAM.DELETE.CALLS",
  "$JS.API.STREAM.PURGE.EVENTS",
  "$JS.API.STREAM.MSG.GET.EVENTS",
  "$JS.API.DIRECT.GET.EVENTS",
  "$JS.API.CONSUMER.CREATE.RECORDS",
  "$JS.API.CONSUMER.DURABLE.CREATE.RECORDS.mine",
  "$JS.API.CONSUMER.CREATE.RECORDS.key-auth-audit.>",
  "$JS.API.CONSUMER.CREATE.RECORDS.key-auth-usage.records.execution",
  "$JS.API.CONSUMER.CREATE.ATTEMPTS.outbound-webhook-workers.attempts.done",
  "$JS.API.CONSUMER.MSG.NEXT.EVENTS.outbound-webhook-fan-out",
  "$JS.API.CONSUMER.MSG.NEXT.RECORDS.key-auth-audit",
  "$JS.API.CONSUMER.MSG.NEXT.CALLS.tool-runner-calls",
  "$SYS.REQ.SERVER.PING",
];

test.each(USERS)("%s may publish to its own subjects of NATS and is refused all others", async (name, user) => {
  const own = subjectsOf(user);
  const allowed = (subject: string) => own.publish.some((pattern) => matches(pattern, subject));
  const { refused } = await refusedAt(name, async (bus) => {
    for (const subject of SUBJECTS) bus.nc.publish(subject);
  });
  for (const subject of SUBJECTS) {
    if (allowed(subject)) expect(refused).not.toContain(`"${subject}"`);
    else expect(refused).toContain(`"${subject}"`);
  }
});

test.each(USERS)("%s may subscribe to its own subjects of NATS and is refused all others", async (name, user) => {
  const own = subjectsOf(user);
  const foreign = [
    ">",
    "records.>",
    "events.>",
    "_INBOX.>",
    "_INBOX_key-auth.>",
    "_INBOX_gateway.>",
    "chat.>",
    "$SYS.>",
  ];
  const wanted = foreign.filter((subject) => !own.subscribe.includes(subject) && subject !== `_INBOX_${name}.>`);
  const { refused } = await refusedAt(name, async (bus) => {
    for (const subject of [...wanted, ...own.subscribe]) bus.nc.subscribe(subject, { callback() {} });
  });
  for (const subject of wanted) expect(refused).toContain(`"${subject}"`);
  for (const subject of own.subscribe) expect(refused).not.toContain(`"${subject}"`);
});

const REDIS_USERS = USERS.filter(([, user]) => user.redisKeys.length > 0);
const KEYS = [
  "toolgate:epoch:workspace:w",
  "toolgate:epoch:key:k",
  "toolgate:epoch:hook:7",
  "toolgate:calls:k:1",
  "toolgate:accepted:k",
  "toolgate:login:account:x",
  "toolgate:hook-calls:7:1",
  "other",
];

test.each(REDIS_USERS)("%s may use its own keys of Redis and is refused all others", async (name, { redisKeys }) => {
  const client = connectRedis({ url: redis.urls[name] ?? "", name: "test", onError() {} });
  await untilReady(client, 60_000);
  const reached: string[] = [];
  for (const key of KEYS) {
    const tries = [client.get(key), client.set(key, "1"), client.eval("return redis.call('incr', KEYS[1])", 1, key)];
    const hidden = client.eval(`return redis.call('get', '${key}')`, 0);
    const outcomes = await Promise.allSettled([...tries, hidden]);
    const did = outcomes.filter(({ status }) => status === "fulfilled").length;
    expect([0, 4]).toContain(did);
    if (did === 4) reached.push(key);
  }
  const own = (key: string) => redisKeys.some((pattern) => key.startsWith(pattern.slice(0, -1)));
  expect(reached).toEqual(KEYS.filter(own));
  for (const command of ["keys", "scan", "flushall", "config", "acl", "monitor", "shutdown", "client", "module"]) {
    const args = {
      keys: ["*"],
      scan: ["0"],
      config: ["get", "*"],
      acl: ["list"],
      client: ["list"],
      module: ["list"],
    };
    const given = (args as Record<string, string[]>)[command] ?? [];
    await expect(client.call(command, ...given), command).rejects.toThrow(/NOPERM/);
  }
  client.disconnect();
});

test("nobody gets in without a login, or with a wrong password", async () => {
  for (const login of ["", "gateway:wrong@", ":@"]) {
    const { port } = new URL(nats.url);
    await expect(connectBus({ servers: `nats://${login}127.0.0.1:${port}`, name: "test" })).rejects.toThrow(
      /Authorization|authorization/,
    );
  }
  const { port } = new URL(redis.url);
  for (const options of [{}, { username: "key-auth", password: "wrong" }, { password: "wrong" }]) {
    const client = new Redis({
      host: "127.0.0.1",
      port: Number(port),
      ...options,
      lazyConnect: true,
      retryStrategy: null,
    });
    client.on("error", () => {});
    await expect(client.connect().then(() => client.get("a"))).rejects.toThrow();
    client.disconnect();
  }
});

test("with tls:// nothing is sent to a server that does not encrypt", async () => {
  const url = nats.url.replace("nats://", "tls://");
  await expect(connectBus({ servers: url, name: "test" })).rejects.toThrow("server does not support 'tls'");
});

test("every service that needs Redis has keys there, and a worker of outbound-webhook has a user of its own", () => {
  for (const [name, { redisKeys, service }] of USERS) {
    expect(redisKeys.length > 0, name).toBe((SERVICES[service].needs as readonly string[]).includes("redis"));
  }
  expect(SERVER_USERS.filter(({ role }) => role).map(({ name }) => name)).toEqual(["outbound-webhook-worker"]);
});
