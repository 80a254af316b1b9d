import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { bodyOf, unpacked } from "./response-body.ts";

const text = (type: string, bytes: Buffer) => bodyOf({ "content-type": type }, bytes);

test.each([
  ["text/plain", Buffer.from("Grüße"), "Grüße"],
  ["text/plain; charset=ISO-8859-1", Buffer.from("Grüße", "latin1"), "Grüße"],
  ['text/csv;charset="windows-1252"', Buffer.from([0x80, 0x31]), "€1"],
  ["text/plain; charset=Shift_JIS", Buffer.from([0x93, 0xfa, 0x96, 0x7b]), "日本"],
  ["text/plain; charset=utf-16le", Buffer.from("日本", "utf16le"), "日本"],
  ["text/plain", Buffer.from("\ufeffx", "utf16le"), "x"],
  ["text/plain; charset=utf-16le", Buffer.from([0xfe, 0xff, 0, 0x78]), "x"],
  ["text/plain", Buffer.from("\ufeffx"), "x"],
  ["application/json", Buffer.from('\ufeff{"a":1}'), { a: 1 }],
  ["application/ld+json; charset=latin1", Buffer.from('{"a":"ü"}', "latin1"), { a: "ü" }],
  ["application/json", Buffer.from('{"a":1234567890123456789}'), '{"a":1234567890123456789}'],
])("[TOOL] a response of the type %s is read as it was meant: %#", (type, bytes, body) => {
  expect(text(type, bytes)).toEqual({ body });
});

test.each([
  ["image/png", Buffer.from([0x89, 0x50, 0xff, 0x00])],
  ["text/plain; charset=nonsense", Buffer.from("x")],
  ["text/plain; charset=utf-8", Buffer.from("Grüße", "latin1")],
])("[TOOL] what is no text of %s is there as base64 too", (type, bytes) => {
  expect(text(type, bytes)).toEqual({ body: expect.any(String), base64: bytes.toString("base64") });
});

test.each([
  ["gzip", gzipSync("hello")],
  ["GZIP", gzipSync("hello")],
  ["deflate", deflateSync("hello")],
  ["br", brotliCompressSync("hello")],
  ["br, gzip", gzipSync(brotliCompressSync("hello"))],
  ["identity", Buffer.from("hello")],
])("[TOOL] a response with %s is unpacked", async (encoding, bytes) => {
  expect((await unpacked({ "content-encoding": encoding }, bytes, 50)).toString()).toBe("hello");
});

test.each([
  ["zstd", Buffer.from("x")],
  ["gzip", Buffer.from("x")],
  ["gzip", gzipSync("x".repeat(100_000))],
  ["gzip, gzip", gzipSync(gzipSync("x".repeat(100_000)))],
])("[TOOL] a response that cannot be unpacked within its limit fails: %s %#", async (encoding, bytes) => {
  await expect(unpacked({ "content-encoding": encoding }, bytes, 1_000)).rejects.toMatchObject({ code: "CALL_FAILED" });
});
