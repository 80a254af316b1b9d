import { SERVER_USERS } from "@toolgate/service-registry/server-users";

/** The environment variables with which each user of `SERVER_USERS` logs in to the servers. */
export type Logins = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The addresses of a server by user. */
type Urls = Readonly<Record<string, string | undefined>>;

/** The logins at servers that were started with the users of `SERVER_USERS`; a server that was not has no `urls`. */
export function loginsAt(servers: {
  readonly nats?: Urls | undefined;
  readonly redis?: Urls | undefined;
  readonly postgres?: Urls | undefined;
}): Logins {
  const { nats = {}, redis = {}, postgres = {} } = servers;
  return Object.fromEntries(
    SERVER_USERS.map(({ name }) => [
      name,
      {
        ...(nats[name] && { NATS_URL: nats[name] }),
        ...(redis[name] && { REDIS_URL: redis[name] }),
        ...(postgres[name] && { DATABASE_URL: postgres[name] }),
      },
    ]),
  );
}
