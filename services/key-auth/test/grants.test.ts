import { createSecretBox, type SecretBox } from "@toolgate/secret-box/secret-box";
import { createTextReaders, type Grant } from "@toolgate/service-host/identity/signed-text";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { createSigners, maintainSigningKeys } from "../src/login/signing-keys.ts";
import { listSigningKeys } from "../src/store/signing-keys.ts";
import { type RunningKeyAuth, runKeyAuth } from "./running-key-auth.ts";

const DAY_MS = 86_400_000;
const admin = (keyAuth: RunningKeyAuth) => keyAuth.as("admin");

/** Reads as a tool-runner does whose clock may be off. */
function readersOf(keyAuth: RunningKeyAuth, now: () => number) {
  const keySet = async () => JSON.parse((await keyAuth.sessions().getKeySet({})).jwksJson);
  return createTextReaders({ keySet, now, onError: () => {} });
}

test("Verify grants a key the tool that it lists, and its descriptions, and nothing else", async () => {
  await using keyAuth = await runKeyAuth();
  const { key, secret } = await keyAuth.keys().createKey({ name: "Partner", tools: ["lookup"] }, admin(keyAuth));
  const { grants, principals } = readersOf(keyAuth, Date.now);
  const granted = async (tool: string): Promise<Grant | undefined> => {
    const { grant = "" } = (await keyAuth.verify(secret, { tool })) ?? {};
    return grant === "" ? undefined : grants.read(grant);
  };
  const { workspaceId } = keyAuth;
  const { workspace } = (await keyAuth.verify(secret)) ?? {};
  const all = { workspaceId, workspace, keyId: key?.id, keyName: "Partner" };
  expect(await granted("lookup")).toEqual({ ...all, tool: "lookup" });
  expect(await granted("")).toEqual({ ...all, tool: "" });
  expect(await granted("echo")).toBeUndefined();
  // A grant is not a principal.
  const { grant = "" } = (await keyAuth.verify(secret, { tool: "lookup" })) ?? {};
  await expect(principals.read(grant)).rejects.toThrow("principal invalid");
  await keyAuth.keys().updateKey({ keyId: key?.id ?? "", name: "Renamed" }, admin(keyAuth));
  expect(await granted("lookup")).toMatchObject({ keyName: "Renamed" });
  await keyAuth.pool.query("update key_auth.workspaces set locked = true");
  await keyAuth.keys().updateKey({ keyId: key?.id ?? "", name: "Partner" }, admin(keyAuth));
  expect(await keyAuth.verify(secret, { tool: "lookup" })).toMatchObject({ workspaceLocked: true, grant: "" });
});

test("a grant is signed once in 30 s, and each is accepted for 30 s more, by clocks that are 4 s off, too", async () => {
  const start = Date.now();
  let nowMs = start;
  await using keyAuth = await runKeyAuth({ now: () => nowMs });
  const { secret } = await keyAuth.keys().createKey({ name: "Partner", tools: ["lookup"] }, admin(keyAuth));
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
  const box: SecretBox = createSecretBox({ keys: keyAuth.sealingKeys });
  const state = { isDown: false, reads: 0, errors: 0 };
  const signingKeys = async () => {
    state.reads += 1;
    if (state.isDown) throw new Error("down");
    return listSigningKeys(keyAuth.pool);
  };
  const { recent: signer } = createSigners({
    signingKeys,
    box,
    now: () => nowMs,
    onError: () => {
      state.errors += 1;
    },
  });
  const [{ kid: first }] = await Promise.all([signer(), signer(), signer()]);
  expect(state.reads).toBe(1);
  state.isDown = true;
  for (let minute = 1; minute <= 9; minute += 1) {
    nowMs += 61_000;
    expect((await signer()).kid).toBe(first);
    await eventually(() => expect(state.errors).toBe(minute));
  }
  nowMs += 120_000;
  await expect(signer()).rejects.toThrow("down");
  state.isDown = false;
  // Nobody has called for a month, and the key that was used last is gone.
  nowMs += 31 * DAY_MS;
  await maintainSigningKeys(keyAuth.pool, box, new Date(nowMs));
  const { kid } = await signer();
  expect(kid).not.toBe(first);
  const [newest] = await listSigningKeys(keyAuth.pool);
  expect(kid).toBe(newest?.kid);
});
