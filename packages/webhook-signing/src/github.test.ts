import fc from "fast-check";
import { expect, test } from "vitest";
import { signGithub, verifyGithub } from "./github.ts";

const secret = "It's a Secret to Everybody";
const body = "Hello, World!";
const header = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

test("[AUTH] the example in GitHub's documentation is signed and verified", () => {
  expect(signGithub(secret, body)).toBe(header);
  expect(verifyGithub(secret, header, body)).toBe(true);
  expect(verifyGithub(secret, `sha256=${header.slice(7).toUpperCase()}`, body)).toBe(true);
});

test("[AUTH] another body, secret or form of the header is refused", () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.nat(255), (anyBody, bit) => {
      const good = signGithub(secret, anyBody);
      const digest = Buffer.from(good.slice(7), "hex");
      digest[bit >> 3] = (digest[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(verifyGithub(secret, good, anyBody)).toBe(true);
      expect(verifyGithub(secret, `sha256=${digest.toString("hex")}`, anyBody)).toBe(false);
      expect(verifyGithub(secret, good, Buffer.concat([anyBody, Buffer.of(0)]))).toBe(false);
      expect(verifyGithub(`${secret}x`, good, anyBody)).toBe(false);
    }),
  );
  const hex = header.slice(7);
  for (const other of ["", hex, `sha1=${hex}`, `SHA256=${hex}`, `sha256=${hex}00`, ` ${header}`, `${header}\n`]) {
    expect(verifyGithub(secret, other, body)).toBe(false);
  }
});
