import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifyBearer, verifyShop } from "./shop-and-bearer.ts";

const signShop = (secret: string, body: Uint8Array | string) =>
  createHmac("sha256", secret).update(body).digest("base64");

test("[AUTH-12] the shop header is base64 of HMAC-SHA256 over the body alone, and verifies", () => {
  fc.assert(
    fc.property(fc.string(), fc.uint8Array(), (secret, body) => {
      const header = signShop(secret, body);
      expect(verifyShop(secret, header, body)).toBe(true);
      expect(verifyShop(secret, header, Buffer.concat([body, Buffer.of(0)]))).toBe(false);
      expect(verifyShop(`${secret}x`, header, body)).toBe(false);
    }),
  );
});

test("[AUTH-12] the shop header takes the strict standard alphabet only", () => {
  const bodies = Array.from({ length: 200 }, (_value, index) => String(index));
  const withSlash = bodies.find((body) => signShop("s", body).includes("/")) ?? "";
  const header = signShop("s", withSlash);
  expect(verifyShop("s", header, withSlash)).toBe(true);
  for (const other of [
    header.replaceAll("/", "_"),
    header.slice(0, -1),
    `${header}=`,
    ` ${header}`,
    `${header}\n`,
    "",
  ]) {
    expect(verifyShop("s", other, withSlash)).toBe(false);
  }
});

test("[AUTH-14] bearer: scheme in any case, token exact", () => {
  const secret = "whsec_abc+/=";
  for (const header of [`Bearer ${secret}`, `bearer ${secret}`, `BEARER  ${secret}`]) {
    expect(verifyBearer(secret, header)).toBe(true);
  }
  for (const header of [
    "",
    secret,
    "Bearer",
    "Bearer ",
    `Basic ${secret}`,
    `Bearer ${secret}x`,
    `Bearer ${secret.toUpperCase()}`,
    `Bearer ${secret} ${secret}`,
    `Bearer ${secret}, Bearer ${secret}`,
  ]) {
    expect(verifyBearer(secret, header)).toBe(false);
  }
});

test("[AUTH-22] an empty secret admits nobody", () => {
  expect(verifyBearer("", "Bearer ")).toBe(false);
});
