import { Code, type ConnectError } from "@connectrpc/connect";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type CheckSource,
  CONCURRENT_HASHES,
  createPasswordQueue,
  MAX_WAITING,
  MAX_WAITING_PER_OWNER,
  MAX_WAITING_PER_SOURCE,
  RESERVED_FOR_KNOWN,
} from "./password-queue.ts";

/** A queue whose hashes end when the test says so; a hash takes 200 ms of the test's clock. */
function testQueue(maxWaitMs = 86_400_000) {
  let now = 0;
  const queue = createPasswordQueue(() => now, maxWaitMs);
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return {
    started,
    running: () => ends.length,
    ask(name: string, source: Partial<CheckSource>, signal?: AbortSignal) {
      const full = { account: name, network: name, isKnown: false, ...source };
      const work = () => {
        started.push(name);
        const { promise, resolve } = Promise.withResolvers<void>();
        ends.push(resolve);
        return promise;
      };
      return queue(full, work, signal);
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
  "one Member with many devices": (at) => ({ account: "member", device: `device${at}`, isKnown: true }),
  "one Member at many networks": (at) => ({ account: "member", network: `office${at}`, isKnown: true }),
  "one network on many accounts": (at) => ({ account: `a${at}`, network: "cloud" }),
  "many networks on one account": (at) => ({ account: "victim", network: `bot${at}` }),
  "many networks of one site on many accounts": (at) => ({ account: `a${at}`, network: `bot${at}`, site: "cloud" }),
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
  const known = Array.from({ length: RESERVED_FOR_KNOWN + 1 }, (_, at) =>
    queue.ask(`known ${at}`, { isKnown: true }).catch(codeOf),
  );
  expect(await known.at(-1)).toBe(Code.ResourceExhausted);
  // The first of them got a place.
  for (let round = 0; round < 5; round += 1) await queue.endOne();
  expect(queue.started).toContain("known 0");
});

const OWNERS: Record<string, (at: number) => Partial<CheckSource>> = {
  "devices and sessions": (at) => ({ device: `device${at}` }),
  "known networks": (at) => ({ network: `office${at}` }),
};

test.each(Object.entries(OWNERS))("[MGMT-4] all %s of one account cannot fill the queue", async (_name, sourceOf) => {
  const queue = testQueue();
  let refused = 0;
  for (let at = 0; at < MAX_WAITING + RESERVED_FOR_KNOWN; at += 1) {
    const source = { account: "member", isKnown: true, ...sourceOf(at) };
    void queue.ask("member", source).catch((error: ConnectError) => {
      if (error.code === Code.ResourceExhausted) refused += 1;
    });
  }
  await queue.settle();
  // One of them runs.
  expect(refused).toBe(MAX_WAITING + RESERVED_FOR_KNOWN - MAX_WAITING_PER_OWNER - 1);
  expect(queue.started).toEqual(["member"]);
});

test("[MGMT-4] strangers in one known network neither delay the owner in another one nor take all places", async () => {
  const queue = testQueue();
  const source = { account: "victim", isKnown: true };
  for (let at = 0; at < 2 * MAX_WAITING_PER_SOURCE; at += 1) {
    void queue.ask("stranger", { ...source, network: "home" }).catch(() => {});
  }
  for (let round = 0; round < 5; round += 1) await queue.endOne();
  void queue.ask("owner", { ...source, network: "office" });
  await queue.endOne();
  expect(queue.started.at(-1)).toBe("owner");
});

test("[MGMT-4] strangers in the network of a known device do not delay it", async () => {
  const queue = testQueue();
  const source = { account: "victim", network: "home", isKnown: true };
  for (let at = 0; at < MAX_WAITING_PER_SOURCE; at += 1) void queue.ask("stranger", source);
  for (let round = 0; round < 5; round += 1) await queue.endOne();
  void queue.ask("owner", { ...source, device: "laptop" });
  await queue.settle();
  expect(queue.started.at(-1)).toBe("owner");
});

test("[MGMT-4] whoever leaves the queue gives up the place, and nothing is done for them", async () => {
  const queue = testQueue();
  const caller = new AbortController();
  const left = Array.from({ length: MAX_WAITING_PER_SOURCE + 1 }, () =>
    queue.ask("left", {}, caller.signal).catch((error: Error) => error.name),
  );
  caller.abort();
  expect(await left.at(-1)).toBe("AbortError");
  await queue.endOne();
  expect(queue.started).toEqual(["left"]);
  const again = Array.from({ length: MAX_WAITING_PER_SOURCE }, () =>
    queue.ask("again", { account: "left", network: "left" }),
  );
  await queue.settle();
  for (const _ of again) await queue.endOne();
  await Promise.all(again);
});

test("[MGMT-4] a check that does not get its turn in time is refused, and one that runs is not", async () => {
  const queue = testQueue(1);
  const running = queue.ask("running", {});
  const late = await queue.ask("late", { account: "running" }).catch((error: ConnectError) => error);
  expect(late).toMatchObject({ code: Code.ResourceExhausted });
  await queue.endOne();
  await running;
  expect(queue.started).toEqual(["running"]);
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
