import { inboxOf } from "./inbox.ts";
import { type ServiceName, serviceEntry } from "./services.ts";

/** A consumer of JetStream that a service shares among its processes. */
export interface DurableConsumer {
  readonly stream: string;
  readonly durable: string;
  readonly filter: string;
}

/** What a user of NATS works with. Everything that it may publish and subscribe to follows from it. */
interface NatsAccess {
  readonly publish?: readonly string[];
  readonly subscribe?: readonly string[];
  /** Streams that it publishes to, and creates if they are missing, as after a wipe. Those of its consumers need not be named. */
  readonly streams?: readonly string[];
  readonly consumers?: readonly DurableConsumer[];
  /** Streams that it creates anew when a version changes their kind, and whose number of copies it raises. */
  readonly kept?: readonly string[];
}

/** One login of the servers that services share: its name, whose it is, and what it may do there. */
export interface ServerUser {
  readonly name: string;
  readonly service: ServiceName;
  /** The process role that logs in so. Absent: all that no other user names. */
  readonly role?: string;
  readonly nats: NatsAccess;
  /** Patterns of its keys in Redis; empty: it has no user there. */
  readonly redisKeys: readonly string[];
}

const WORKERS = { stream: "ATTEMPTS", durable: "outbound-webhook-workers", filter: "attempts.send" };
/** Every service compares the epochs of the workspaces that it caches, and creates missing ones. */
const WORKSPACE_EPOCHS = "toolgate:epoch:workspace:*";

/**
 * The one list of logins: NATS' permissions, Redis' access list and the tests are made from it. Nobody may read a stream
 * directly or replace it, except outbound-webhook.
 */
export const SERVER_USERS: readonly ServerUser[] = [
  {
    name: "gateway",
    service: "gateway",
    nats: { publish: ["records.usage"], streams: ["RECORDS"], subscribe: ["chat.events.*"] },
    redisKeys: [],
  },
  {
    name: "key-auth",
    service: "key-auth",
    nats: {
      consumers: [
        { stream: "RECORDS", durable: "key-auth-usage", filter: "records.usage" },
        { stream: "RECORDS", durable: "key-auth-audit", filter: "records.audit" },
      ],
    },
    redisKeys: [
      WORKSPACE_EPOCHS,
      "toolgate:epoch:key:*",
      "toolgate:calls:*",
      "toolgate:accepted:*",
      "toolgate:login:*",
    ],
  },
  {
    name: "tool-runner",
    service: "tool-runner",
    nats: {
      publish: ["records.audit", "records.execution", "records.usage", "calls.record", "events.tool-runner"],
      streams: ["EVENTS"],
      consumers: [
        { stream: "RECORDS", durable: "tool-runner-executions", filter: "records.execution" },
        { stream: "CALLS", durable: "tool-runner-calls", filter: "calls.record" },
      ],
      subscribe: ["settled.tool-runner"],
    },
    redisKeys: [WORKSPACE_EPOCHS],
  },
  {
    name: "chat",
    service: "chat",
    nats: { publish: ["records.audit", "chat.>"], streams: ["RECORDS"], subscribe: ["chat.>"] },
    redisKeys: [],
  },
  {
    name: "inbound-hook",
    service: "inbound-hook",
    nats: { publish: ["records.audit", "hook-runs.*"], streams: ["RECORDS"], subscribe: ["hook-runs.*"] },
    redisKeys: [WORKSPACE_EPOCHS, "toolgate:epoch:hook:*", "toolgate:hook-calls:*"],
  },
  {
    name: "outbound-webhook",
    service: "outbound-webhook",
    nats: {
      publish: ["records.audit", "settled.*", "attempts.*", "dispatch.wake"],
      streams: ["RECORDS", "CALLS"],
      consumers: [
        { stream: "EVENTS", durable: "outbound-webhook-fan-out", filter: "events.>" },
        WORKERS,
        { stream: "ATTEMPTS", durable: "outbound-webhook-results", filter: "attempts.done" },
      ],
      kept: ["CALLS", "RECORDS", "EVENTS", "ATTEMPTS"],
      subscribe: ["dispatch.wake"],
    },
    redisKeys: [],
  },
  {
    name: "outbound-webhook-worker",
    service: "outbound-webhook",
    role: "worker",
    nats: { publish: ["attempts.done"], consumers: [WORKERS] },
    redisKeys: [],
  },
];

/** The user as which a process of a service logs in; `role` when it has only one of the service's roles. */
export function serverUserOf(service: ServiceName, role?: string): ServerUser {
  const users = SERVER_USERS.filter((user) => user.service === service);
  const found = users.find((user) => user.role === role) ?? users.find((user) => user.role === undefined);
  if (!found) throw new Error(`${service} has no user`);
  return found;
}

/** The streams that a user works with. */
export function streamsOf({ nats: { streams = [], consumers = [] } }: ServerUser): string[] {
  return [...new Set([...streams, ...consumers.map(({ stream }) => stream)])];
}

/** The consumer's filter is part of the subject, so nobody can create one for other messages. */
function consumerSubjects({ stream, durable, filter }: DurableConsumer): string[] {
  const named = `${stream}.${durable}`;
  return [
    `$JS.API.CONSUMER.CREATE.${named}.${filter}`,
    `$JS.API.CONSUMER.INFO.${named}`,
    `$JS.API.CONSUMER.DELETE.${named}`,
    `$JS.API.CONSUMER.MSG.NEXT.${named}`,
    `$JS.ACK.${named}.>`,
  ];
}

/** All subjects that a user may publish and subscribe to. */
export function subjectsOf(user: ServerUser): { publish: string[]; subscribe: string[] } {
  const { publish = [], subscribe = [], consumers = [], kept = [] } = user.nats;
  const ofJetStream = [
    ...streamsOf(user).flatMap((name) => [`$JS.API.STREAM.INFO.${name}`, `$JS.API.STREAM.CREATE.${name}`]),
    ...consumers.flatMap(consumerSubjects),
    ...kept.flatMap((name) => [`$JS.API.STREAM.DELETE.${name}`, `$JS.API.STREAM.UPDATE.${name}`]),
  ];
  return { publish: [...publish, ...ofJetStream], subscribe: [...subscribe] };
}

/** A user in the words of a server's configuration. */
export interface UserRules {
  readonly name: string;
  readonly rules: string;
}

/** The `permissions` of each user in the configuration of nats-server. */
export function natsUsers(): UserRules[] {
  return SERVER_USERS.map((user) => {
    const { name } = user;
    const { publish, subscribe } = subjectsOf(user);
    const allow = (subjects: readonly string[]) => `{ allow: ${JSON.stringify(subjects)} }`;
    const own = allow([...subscribe, `${inboxOf(name)}.>`]);
    return { name, rules: `permissions: { publish: ${allow(publish)}, subscribe: ${own} }` };
  });
}

const REDIS_COMMANDS =
  "-@all +@connection +@string -@admin -@dangerous +eval +evalsha +multi +exec +del +expire +ttl +pttl +time +info";

/** The rules of each user of Redis, as `ACL SETUSER` takes them. */
export function redisUsers(): UserRules[] {
  return SERVER_USERS.filter(({ service }) => serviceEntry(service).needs.includes("redis"))
    .filter(({ redisKeys }) => redisKeys.length > 0)
    .map(({ name, redisKeys }) => {
      const keys = redisKeys.map((pattern) => `~${pattern}`).join(" ");
      return { name, rules: `resetkeys resetchannels ${keys} ${REDIS_COMMANDS}` };
    });
}

/** The role of each service in a database on a server of our own: it owns its schema and nothing else. */
export function databaseUsers(database: string): { name: string; role: string; ofAdmin: true }[] {
  return SERVER_USERS.filter(({ role }) => role === undefined).flatMap(({ name, service }) => {
    const { schema } = serviceEntry(service);
    return schema === undefined ? [] : [{ name, role: `${database}_${schema}`, ofAdmin: true as const }];
  });
}
