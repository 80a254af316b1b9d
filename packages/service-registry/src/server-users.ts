import { inboxOf } from "./inbox.ts";
import { type ServiceName, serviceEntry } from "./services.ts";

/** What a user of NATS may publish and subscribe to. */
export interface NatsAccess {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** One login of the servers that services share: its name, whose it is, and what it may do there. */
export interface ServerUser {
  readonly name: string;
  readonly service: ServiceName;
  /** The process roles that log in so. Absent: all that no other user names. */
  readonly roles?: readonly string[];
  readonly nats: NatsAccess;
  /** Patterns of its keys in Redis; empty: it has no user there. */
  readonly redisKeys: readonly string[];
}

/** What publishing to a stream takes: whoever finds it missing, after a wipe, creates it. */
function stream(name: string): string[] {
  return [`$JS.API.STREAM.INFO.${name}`, `$JS.API.STREAM.CREATE.${name}`];
}

/** What consuming takes. The consumer's filter is part of the subject, so nobody can create one for other messages. */
function consumer(ofStream: string, durable: string, filter: string): string[] {
  const named = `${ofStream}.${durable}`;
  return [
    ...stream(ofStream),
    `$JS.API.CONSUMER.CREATE.${named}.${filter}`,
    `$JS.API.CONSUMER.INFO.${named}`,
    `$JS.API.CONSUMER.DELETE.${named}`,
    `$JS.API.CONSUMER.MSG.NEXT.${named}`,
    `$JS.ACK.${named}.>`,
  ];
}

const AUDIT = ["records.audit", ...stream("RECORDS")];
/** Every service compares the epochs of the workspaces that it caches, and creates missing ones. */
const WORKSPACE_EPOCHS = "toolgate:epoch:workspace:*";

/**
 * The one list of logins: NATS' permissions, Redis' access list and the tests are made from it. Nobody may read a stream
 * directly or replace it, except that outbound-webhook creates streams anew when a version changes their kind, and raises
 * the number of their copies.
 */
export const SERVER_USERS: readonly ServerUser[] = [
  {
    name: "gateway",
    service: "gateway",
    nats: { publish: ["records.usage", ...stream("RECORDS")], subscribe: ["chat.events.*"] },
    redisKeys: [],
  },
  {
    name: "key-auth",
    service: "key-auth",
    nats: {
      publish: [
        ...consumer("RECORDS", "key-auth-usage", "records.usage"),
        ...consumer("RECORDS", "key-auth-audit", "records.audit"),
      ],
      subscribe: [],
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
      publish: [
        ...AUDIT,
        "records.execution",
        "calls.record",
        "records.usage",
        ...consumer("RECORDS", "tool-runner-executions", "records.execution"),
        ...consumer("CALLS", "tool-runner-calls", "calls.record"),
        "events.tool-runner",
        ...stream("EVENTS"),
      ],
      subscribe: ["settled.tool-runner"],
    },
    redisKeys: [WORKSPACE_EPOCHS],
  },
  {
    name: "chat",
    service: "chat",
    nats: { publish: [...AUDIT, "chat.>"], subscribe: ["chat.>"] },
    redisKeys: [],
  },
  {
    name: "inbound-hook",
    service: "inbound-hook",
    nats: { publish: [...AUDIT, "hook-runs.*"], subscribe: ["hook-runs.*"] },
    redisKeys: [WORKSPACE_EPOCHS, "toolgate:epoch:hook:*", "toolgate:hook-calls:*"],
  },
  {
    name: "outbound-webhook",
    service: "outbound-webhook",
    nats: {
      publish: [
        ...AUDIT,
        ...stream("CALLS"),
        ...["CALLS", "RECORDS", "EVENTS", "ATTEMPTS"].flatMap((name) => [
          `$JS.API.STREAM.DELETE.${name}`,
          `$JS.API.STREAM.UPDATE.${name}`,
        ]),
        ...consumer("EVENTS", "outbound-webhook-fan-out", "events.>"),
        "settled.*",
        "attempts.*",
        ...consumer("ATTEMPTS", "outbound-webhook-workers", "attempts.send"),
        ...consumer("ATTEMPTS", "outbound-webhook-results", "attempts.done"),
        "dispatch.wake",
      ],
      subscribe: ["dispatch.wake"],
    },
    redisKeys: [],
  },
  {
    name: "outbound-webhook-worker",
    service: "outbound-webhook",
    roles: ["worker"],
    nats: {
      publish: [...consumer("ATTEMPTS", "outbound-webhook-workers", "attempts.send"), "attempts.done"],
      subscribe: [],
    },
    redisKeys: [],
  },
];

/** The user as which a process of a service logs in; `role` when it has only one of the service's roles. */
export function serverUserOf(service: ServiceName, role?: string): ServerUser {
  const users = SERVER_USERS.filter((user) => user.service === service);
  const found =
    users.find(({ roles }) => role !== undefined && roles?.includes(role)) ?? users.find(({ roles }) => !roles);
  if (!found) throw new Error(`${service} has no user`);
  return found;
}

const STREAM_SUBJECT = /^\$JS\.API\.STREAM\.INFO\.(.+)$/;
const UPDATE_SUBJECT = /^\$JS\.API\.STREAM\.UPDATE\.(.+)$/;
const CONSUMER_SUBJECT = /^\$JS\.API\.CONSUMER\.CREATE\.([^.]+)\.([^.]+)\.(.+)$/;

/** A consumer of JetStream that a service shares among its processes. */
export interface DurableConsumer {
  readonly stream: string;
  readonly durable: string;
  readonly filter: string;
}

/** The streams that a user works with, those whose settings it may change, and its consumers. */
export function jetStreamOf({ nats }: ServerUser): { streams: string[]; kept: string[]; consumers: DurableConsumer[] } {
  const streams = nats.publish.flatMap((subject) => STREAM_SUBJECT.exec(subject)?.[1] ?? []);
  const kept = nats.publish.flatMap((subject) => UPDATE_SUBJECT.exec(subject)?.[1] ?? []);
  const consumers = nats.publish.flatMap((subject) => {
    const [, stream, durable, filter] = CONSUMER_SUBJECT.exec(subject) ?? [];
    return stream && durable && filter ? [{ stream, durable, filter }] : [];
  });
  return { streams: [...new Set(streams)], kept, consumers };
}

/** A user in the words of a server's configuration. */
export interface UserRules {
  readonly name: string;
  readonly rules: string;
}

/** The `permissions` of each user in the configuration of nats-server. */
export function natsUsers(): UserRules[] {
  return SERVER_USERS.map(({ name, nats }) => {
    const allow = (subjects: readonly string[]) => `{ allow: ${JSON.stringify([...new Set(subjects)])} }`;
    const subscribe = [...nats.subscribe, `${inboxOf(name)}.>`];
    return { name, rules: `permissions: { publish: ${allow(nats.publish)}, subscribe: ${allow(subscribe)} }` };
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
  return SERVER_USERS.filter(({ roles }) => !roles).flatMap(({ name, service }) => {
    const { schema } = serviceEntry(service);
    return schema === undefined ? [] : [{ name, role: `${database}_${schema}`, ofAdmin: true as const }];
  });
}
