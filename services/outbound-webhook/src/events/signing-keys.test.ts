import { randomBytes } from "node:crypto";
import { createSecretBox } from "@toolgate/secret-box/secret-box";
import { generateSecret } from "@toolgate/webhook-signing/secret";
import { sign } from "@toolgate/webhook-signing/sign";
import { expect, it } from "vitest";
import { sealingContext } from "../domain/endpoint.ts";
import { createSigningKeys } from "./signing-keys.ts";

const box = createSecretBox({ keys: [{ version: 1, key: randomBytes(32) }] });
const seal = (endpointId: number, secret: string) => ({
  endpointId,
  secret: box.seal(secret, sealingContext(endpointId)),
});

it("[OUT-22] signs with the secret that an endpoint has now, and opens it once", () => {
  let opened = 0;
  const keyOf = createSigningKeys({
    open(sealed, context) {
      opened += 1;
      return box.open(sealed, context);
    },
  });
  const [first, second] = [generateSecret(), generateSecret()];
  const before = seal(1, first);
  const after = seal(1, second);
  for (const endpoint of [before, before]) expect(sign(keyOf(endpoint), 1, "body")).toBe(sign(first, 1, "body"));
  expect(opened).toBe(1);
  for (const endpoint of [after, after]) expect(sign(keyOf(endpoint), 1, "body")).toBe(sign(second, 1, "body"));
  expect(opened).toBe(2);
  expect(sign(keyOf(seal(2, first)), 1, "body")).toBe(sign(first, 1, "body"));
});

it("[OUT-22] does not use a kept key for sealed bytes that do not open", () => {
  const keyOf = createSigningKeys(box);
  const endpoint = seal(1, generateSecret());
  keyOf(endpoint);
  const changed = Buffer.from(endpoint.secret);
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  expect(() => keyOf({ endpointId: 1, secret: changed })).toThrow();
});
