import { expect, test } from "vitest";
import { mediaTypeOf } from "./media-type.ts";

test.each([
  ["image/png", "\x89PNG\r\n\x1a\nmore"],
  ["image/jpeg", "\xff\xd8\xff\xe0"],
  ["image/gif", "GIF89a"],
  ["image/webp", "RIFF\0\0\0\0WEBPVP8 "],
  ["application/pdf", "%PDF-1.7"],
  ["application/octet-stream", "<html>"],
  ["application/octet-stream", ""],
  ["application/octet-stream", " %PDF-1.7"],
])("[CHAT-11] a file is %s when it begins with %j", (type, start) => {
  expect(mediaTypeOf(Buffer.from(start, "latin1"))).toBe(type);
});
