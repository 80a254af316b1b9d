import { Code, type ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type CheckSource,
  CONCURRENT_HASHES,
  createPasswordQueue,
  MAX_WAITING,
  MAX_WAITING_PER_SOURCE,
} from "./password-queue.ts";

/** A queue whose hashes end when the test says so; a hash takes 200 ms of the test's clock. */
function testQueue() {
  let now = 0;
  const queue = createPasswordQueue(() => now);
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return {
    started,
    running: () => ends.length,
    ask(name: string, source: Partial<CheckSource>) {
      const full = { account: name, network: name, isKnown: false, ...source };
      return queue(full, () => {
        started.push(name);
        const { promise, resolve } = Promise.withResolvers<void>();
        ends.push(resolve);
        return promise;
      });
    },
    async endOne() {
      now += 200;
      ends.shift()?.();
      await settle();
    },
    settle,
  };
}

const ATTACKS: Record<string, (at: number) => Partial<CheckSource>> = {
  "one Member at one network": () => ({ account: "member", network: "office", isKnown: true }),
  "one network on many accounts": (at) => ({ account: `a${at}`, network: "cloud" }),
  "many networks on one account": (at) => ({ account: "victim", network: `bot${at}` }),
};

test.each(Object.entries(ATTACKS))("[MGMT-4] %s delays others by one hash at most", async (_name, sourceOf) => {
  const queue = testQueue();
  const attempts = Array.from({ length: 130 }, (_, at) => queue.ask("attacker", sourceOf(at)).catch(() => {}));
  await queue.settle();
  for (let round = 0; round < 10; round += 1) await queue.endOne();
  expect(queue.running()).toBe(1);
  const quiet = queue.ask("quiet", {});
  await queue.settle();
  expect(queue.started.at(-1)).toBe("quiet");
  // The attackers' own checks continue, one at a time.
  for (let round = 0; round < 200; round += 1) await queue.endOne();
  await Promise.all([...attempts, quiet]);
});

test("[MGMT-4] strangers who try an account's password do not delay its owner at a known network", async () => {
  const queue = testQueue();
  for (let at = 0; at < 40; at += 1) void queue.ask("stranger", { account: "victim", network: `bot${at}` });
  await queue.settle();
  for (let round = 0; round < 5; round += 1) await queue.endOne();
  void queue.ask("owner", { account: "victim", network: "home", isKnown: true });
  await queue.settle();
  expect(queue.started.at(-1)).toBe("owner");
});

test("[MGMT-4] many networks that try as many accounts do not delay those who have signed in before", async () => {
  const queue = testQueue();
  for (let at = 0; at < 500; at += 1) void queue.ask("stranger", { account: `victim${at}`, network: `bot${at}` });
  await queue.settle();
  for (let round = 0; round < 5; round += 1) await queue.endOne();
  void queue.ask("known", { isKnown: true });
  await queue.endOne();
  expect(queue.started.at(-1)).toBe("known");
});

test("[MGMT-4] checks of one source wait in a bounded queue, and all checks in another", async () => {
  const queue = testQueue();
  const codeOf = (error: unknown) => (error as ConnectError).code;
  const attempts = Array.from({ length: MAX_WAITING_PER_SOURCE + 2 }, () => queue.ask("one", {}).catch(codeOf));
  expect(await attempts.at(-1)).toBe(Code.ResourceExhausted);
  const others = Array.from({ length: MAX_WAITING }, (_, at) => queue.ask(`other ${at}`, {}).catch(codeOf));
  expect(await others.at(-1)).toBe(Code.ResourceExhausted);
});

test("[MGMT-4] no more run at the same time than there are slots, and every check ends", async () => {
  const source = fc.record({
    account: fc.constantFrom("a", "b", "c"),
    network: fc.constantFrom(undefined, "x", "y"),
    isKnown: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(source, { maxLength: 40 }), async (sources) => {
      const queue = testQueue();
      const checks = sources.map((one) => queue.ask("check", one as CheckSource));
      await queue.settle();
      for (const _ of sources) {
        expect(queue.running()).toBeLessThanOrEqual(CONCURRENT_HASHES);
        await queue.endOne();
      }
      await Promise.all(checks);
      expect(queue.started).toHaveLength(sources.length);
    }),
  );
});
