import { Code, ConnectError } from "@connectrpc/connect";
import { claimsOf, newSigningKey } from "@toolgate/testbed/principals";
import { type CryptoKey, importPKCS8 } from "jose";
import { expect, test } from "vitest";
import type { Principal } from "../principal.ts";
import { createTextReaders, signPrincipal } from "./signed-text.ts";

const USER: Principal = { userId: "u1", email: "a@acme.example", workspaceId: "w1", workspace: "acme", role: "admin" };

function rig(...kids: string[]) {
  const keys = kids.map(newSigningKey);
  const state = {
    nowMs: Date.now(),
    loads: 0,
    isDown: false,
    published: keys.map(({ jwk }) => jwk),
    whileLoading: async () => {},
  };
  const { principals: reader } = createTextReaders({
    async keySet() {
      state.loads += 1;
      if (state.isDown) throw new Error("down");
      const found = state.published;
      await state.whileLoading();
      return { keys: found };
    },
    now: () => state.nowMs,
    onError: () => {},
  });
  const text = (at = 0, claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}) =>
    (keys[at] as (typeof keys)[number]).sign({ ...claimsOf(USER, state.nowMs), ...claims }, header);
  return { keys, state, reader, text };
}

async function outcome(reading: Promise<unknown>): Promise<string> {
  return reading.then(
    () => "read",
    (error) => Code[ConnectError.from(error).code] ?? "?",
  );
}

test("a principal is read as it was signed, and the same text is verified once", async () => {
  const { reader, state, text } = rig("k");
  const sent = text();
  expect(await Promise.all([reader.read(sent), reader.read(sent), reader.read(sent)])).toEqual([USER, USER, USER]);
  state.isDown = true;
  expect(reader.known(sent)).toEqual(USER);
  expect(state.loads).toBe(1);
});

test("what key-auth signs is valid for 60 s, and a clock may be a few seconds off", async () => {
  const { reader, state } = rig();
  const pem = `-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----`;
  const key: CryptoKey = await importPKCS8(pem, "EdDSA");
  state.published = [{ kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", kid: "k" }];
  const start = Math.floor(state.nowMs / 1_000) * 1_000;
  const sent = await signPrincipal(USER, { key, kid: "k", now: new Date(start) });
  // A service whose clock is 4 s behind.
  state.nowMs = start - 4_000;
  expect(await outcome(reader.read(sent))).toBe("read");
  state.nowMs = start + 59_999;
  expect(await outcome(reader.read(sent))).toBe("read");
  expect(reader.known(sent)).toEqual(USER);
  // A known text ends on time.
  state.nowMs = start + 60_001;
  expect(reader.known(sent)).toBeUndefined();
  expect(await outcome(reader.read(sent))).toBe("read");
  state.nowMs = start + 66_000;
  expect(await outcome(reader.read(sent))).toBe("Unauthenticated");
});

test("a new key is loaded when its first principal comes, and a burst of unknown keys causes one load", async () => {
  const { reader, state, text, keys } = rig("old", "new");
  state.published = [keys[0]?.jwk ?? {}];
  expect(await outcome(reader.read(text(0)))).toBe("read");
  state.published = keys.map(({ jwk }) => jwk);
  expect(await outcome(reader.read(text(1)))).toBe("read");
  expect(state.loads).toBe(2);
  const unknown = Array.from({ length: 200 }, (_, index) => newSigningKey(`x${index}`).sign(claimsOf(USER)));
  const outcomes = await Promise.all(unknown.map((sent) => outcome(reader.read(sent))));
  expect(new Set(outcomes)).toEqual(new Set(["Unauthenticated"]));
  expect(state.loads).toBe(3);
});

test("a principal whose key was made while older keys were loading is read, too", async () => {
  const { reader, state, text, keys } = rig("old", "new");
  const reading = Promise.withResolvers<void>();
  const loading = Promise.withResolvers<void>();
  state.published = [keys[0]?.jwk ?? {}];
  state.whileLoading = () => {
    reading.resolve();
    return loading.promise;
  };
  const first = outcome(reader.read(text(0)));
  await reading.promise;
  state.published = keys.map(({ jwk }) => jwk);
  const second = outcome(reader.read(text(1)));
  loading.resolve();
  expect(await Promise.all([first, second])).toEqual(["read", "read"]);
  expect(state.loads).toBe(2);
});

test("a text is verified again after a minute, however long it claims to be valid", async () => {
  const { reader, state, text } = rig("k");
  const sent = text(0, { exp: Math.floor(state.nowMs / 1_000) + 86_400 });
  await reader.read(sent);
  state.nowMs += 59_000;
  expect(reader.known(sent)).toEqual(USER);
  state.nowMs += 2_000;
  expect(reader.known(sent)).toBeUndefined();
  expect(await outcome(reader.read(sent))).toBe("read");
});

test("without key-auth, known keys stay in use, and unknown ones are unavailable until it is back", async () => {
  const { reader, state, text } = rig("k");
  state.isDown = true;
  expect(await outcome(reader.read(text()))).toBe("Unavailable");
  state.isDown = false;
  expect(await outcome(reader.read(text()))).toBe("read");
  state.isDown = true;
  expect(await outcome(reader.read(text(0, { email: "b@acme.example" })))).toBe("read");
});
