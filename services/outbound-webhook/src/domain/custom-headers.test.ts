import { expect, test } from "vitest";
import { readCustomHeaders } from "./custom-headers.ts";

test("[OUT-18] custom headers are kept with names in lower case", () => {
  const given = { "X-Api-Key": "k 1", authorization: "Bearer t" };
  expect(readCustomHeaders(given)).toEqual({ ok: true, headers: { "x-api-key": "k 1", authorization: "Bearer t" } });
  expect(readCustomHeaders({})).toEqual({ ok: true, headers: {} });
});

test.each<[Record<string, string>]>([
  [{ "X-Service-Signature": "x" }],
  [{ "webhook-id": "x" }],
  [{ Host: "x" }],
  [{ "content-length": "1" }],
  [{ "Transfer-Encoding": "chunked" }],
  [{ "x-forwarded-for": "1.2.3.4" }],
  [{ "user-agent": "x" }],
  [{ "a b": "x" }],
  [{ "": "x" }],
  [{ ":path": "x" }],
  [{ a: "" }],
  [{ a: "x\ty" }],
  [{ a: "x\r\nb: y" }],
  [{ a: "ä" }],
  [{ a: "1", A: "2" }],
  [{ a: "x".repeat(4_097) }],
  [Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`x-${at}`, "v"]))],
  [{ a: "x".repeat(4_096), b: "x".repeat(4_096) }],
])("[OUT-18] headers that are reserved or no headers are refused: case %#", (given) => {
  expect(readCustomHeaders(given)).toMatchObject({ ok: false, violation: expect.stringMatching(/^headers: /) });
});
