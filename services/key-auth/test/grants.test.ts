import { EventEmitter } from "node:events";
import type { Queryable } from "@toolgate/postgres/pool";
import { createSecretBox } from "@toolgate/secret-box/secret-box";
import { createTextReaders, type Grant } from "@toolgate/service-host/identity/signed-text";
import { expect, test } from "vitest";
import { createSigner, maintainSigningKeys } from "../src/login/signing-keys.ts";
import { listSigningKeys } from "../src/store/signing-keys.ts";
import { type RunningKeyAuth, runKeyAuth } from "./running-key-auth.ts";

const DAY_MS = 86_400_000;

/** Reads as a tool-runner does whose clock may be off. */
function readersOf(keyAuth: RunningKeyAuth, now: () => number) {
  const keySet = async () => JSON.parse((await keyAuth.sessions().getKeySet({})).jwksJson);
  return createTextReaders({ keySet, now, onError: () => {} });
}

test("Verify grants a key the tool that it lists, and its descriptions, and nothing else", async () => {
  await using keyAuth = await runKeyAuth();
  const { keyId, secret } = await keyAuth.newKey({ name: "Partner", tools: ["lookup"] });
  const { grants, principals } = readersOf(keyAuth, Date.now);
  const granted = async (tool: string): Promise<Grant | undefined> => {
    const { grant = "" } = (await keyAuth.verify(secret, { tool })) ?? {};
    return grant === "" ? undefined : grants.read(grant);
  };
  const { workspaceId } = keyAuth;
  const { workspace } = (await keyAuth.verify(secret)) ?? {};
  const all = { workspaceId, workspace, keyId, keyName: "Partner" };
  expect(await granted("lookup")).toEqual({ ...all, tool: "lookup" });
  expect(await granted("")).toEqual({ ...all, tool: "" });
  expect(await granted("echo")).toBeUndefined();
  // A grant is not a principal.
  const { grant = "" } = (await keyAuth.verify(secret, { tool: "lookup" })) ?? {};
  await expect(principals.read(grant)).rejects.toThrow("principal invalid");
  await keyAuth.keys().updateKey({ keyId, name: "Renamed" }, keyAuth.as("admin"));
  expect(await granted("lookup")).toMatchObject({ keyName: "Renamed" });
  await keyAuth.pool.query("update key_auth.workspaces set locked = true");
  await keyAuth.keys().updateKey({ keyId, name: "Partner" }, keyAuth.as("admin"));
  expect(await keyAuth.verify(secret, { tool: "lookup" })).toMatchObject({ workspaceLocked: true, grant: "" });
});

test("a grant is signed once in 30 s, and each is accepted for 30 s more, by clocks that are 4 s off, too", async () => {
  const start = Date.now();
  let nowMs = start;
  await using keyAuth = await runKeyAuth({ now: () => nowMs });
  const { secret } = await keyAuth.newKey({ tools: ["lookup"] });
  let offMs = 0;
  const { grants } = readersOf(keyAuth, () => nowMs + offMs);
  const texts = new Set<string>();
  for (let second = 0; second < 120; second += 3) {
    nowMs = start + second * 1_000;
    const { grant = "" } = (await keyAuth.verify(secret, { tool: "lookup", count: false })) ?? {};
    texts.add(grant);
    for (const [waitedMs, clockMs] of [
      [0, -4_000],
      [30_000, 4_000],
    ] as const) {
      offMs = clockMs + waitedMs;
      await expect(grants.read(grant)).resolves.toMatchObject({ tool: "lookup" });
    }
  }
  expect(texts.size).toBe(4);
  // Much later it is refused.
  const [first = ""] = texts;
  nowMs = start + 66_000;
  offMs = 0;
  await expect(grants.read(first)).rejects.toThrow("grant invalid or expired");
});

test("grants are signed with the newest key, and with the last one while Postgres is down", async () => {
  let nowMs = Date.now();
  await using keyAuth = await runKeyAuth({ now: () => nowMs });
  const box = createSecretBox({ keys: keyAuth.sealingKeys });
  const state = { isDown: false };
  const query = (text: string) => {
    if (state.isDown) throw new Error("down");
    return keyAuth.pool.query(text);
  };
  const signer = createSigner({ query } as Queryable, box, { redis: new EventEmitter(), now: () => nowMs });
  const { kid: first } = await signer();
  state.isDown = true;
  nowMs += 9 * 60_000;
  expect((await signer()).kid).toBe(first);
  nowMs += 2 * 60_000;
  await expect(signer()).rejects.toThrow("down");
  state.isDown = false;
  // Nobody has called for a month, and the key that was used last is gone.
  nowMs += 31 * DAY_MS;
  await maintainSigningKeys(keyAuth.pool, box, new Date(nowMs));
  const [newest] = await listSigningKeys(keyAuth.pool);
  expect((await signer()).kid).toBe(newest?.kid);
  expect(newest?.kid).not.toBe(first);
});
