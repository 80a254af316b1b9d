import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { signGithub, verifyBearer, verifyGithub, verifyShop } from "./verify-untimed.ts";

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

const githubSecret = "It's a Secret to Everybody";
const githubBody = "Hello, World!";
const githubHeader = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

test("[AUTH] the example in GitHub's documentation is signed and verified", () => {
  expect(signGithub(githubSecret, githubBody)).toBe(githubHeader);
  expect(verifyGithub(githubSecret, githubHeader, githubBody)).toBe(true);
  expect(verifyGithub(githubSecret, `sha256=${githubHeader.slice(7).toUpperCase()}`, githubBody)).toBe(true);
});

test("[AUTH] another body, secret or form of the header is refused", () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.nat(255), (anyBody, bit) => {
      const good = signGithub(githubSecret, anyBody);
      const digest = Buffer.from(good.slice(7), "hex");
      digest[bit >> 3] = (digest[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(verifyGithub(githubSecret, good, anyBody)).toBe(true);
      expect(verifyGithub(githubSecret, `sha256=${digest.toString("hex")}`, anyBody)).toBe(false);
      expect(verifyGithub(githubSecret, good, Buffer.concat([anyBody, Buffer.of(0)]))).toBe(false);
      expect(verifyGithub(`${githubSecret}x`, good, anyBody)).toBe(false);
    }),
  );
  const hex = githubHeader.slice(7);
  for (const other of [
    "",
    hex,
    `sha1=${hex}`,
    `SHA256=${hex}`,
    `sha256=${hex}00`,
    ` ${githubHeader}`,
    `${githubHeader}\n`,
  ]) {
    expect(verifyGithub(githubSecret, other, githubBody)).toBe(false);
  }
});
