import { setImmediate as nextTick } from "node:timers/promises";
import { headers, PermissionViolationError } from "@nats-io/transport-node";
import type { Bus } from "@toolgate/event-bus/connect";
import { type ServerUser, subjectsOf } from "@toolgate/service-registry/server-users";

const EVERYTHING = ">";
/** What takes a message or deletes something, whoever sends it. */
const NOT_TRIED = /^\$JS\.API\.(?:STREAM|CONSUMER)\.DELETE\.|^\$JS\.API\.CONSUMER\.MSG\.NEXT\./;

/** What the server refuses a user of the subjects that it needs, and whether it may read those of everybody. */
interface Permissions {
  refused: string[];
  readsEverything: boolean;
}

/**
 * Tries every subject that can be tried without effect. Streams refuse the messages, because they are addressed to a stream
 * that does not exist; other subjects with wildcards are tried with a token that nobody listens to.
 */
export async function permissionsOf(bus: Bus, user: ServerUser): Promise<Permissions> {
  const { publish, subscribe } = subjectsOf(user);
  const { nc } = bus;
  const refused = new Set<string>();
  const status = nc.status();
  void (async () => {
    for await (const event of status)
      if (event.type === "error" && event.error instanceof PermissionViolationError) refused.add(event.error.subject);
  })();
  const forNoStream = headers();
  forNoStream.set("Nats-Expected-Stream", "none");
  const tried = publish.filter((subject) => !NOT_TRIED.test(subject));
  for (const subject of tried) nc.publish(asLiteral(subject), "", { headers: forNoStream });
  const subscriptions = [...subscribe, EVERYTHING].map((subject) => nc.subscribe(subject, { callback() {} }));
  await nc.flush();
  for (const subscription of subscriptions) subscription.unsubscribe();
  // The server's refusals came before its response to the flush.
  await nc.flush();
  await nextTick();
  const wanted = [
    ...tried.filter((subject) => refused.has(asLiteral(subject))),
    ...subscribe.filter((subject) => refused.has(subject)),
  ];
  return { refused: wanted, readsEverything: !refused.has(EVERYTHING) };
}

function asLiteral(subject: string): string {
  return subject.replace(/[*>]/g, "doctor");
}
