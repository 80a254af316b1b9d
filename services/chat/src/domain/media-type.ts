/** The first bytes, as latin1, of the types of files that a model may read. */
const SIGNATURES: readonly (readonly [mediaType: string, begin: string, at8?: string])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF87a"],
  ["image/gif", "GIF89a"],
  ["image/webp", "RIFF", "WEBP"],
  ["application/pdf", "%PDF-"],
];
const OTHER = "application/octet-stream";

export const SIGNATURE_BYTES = 16;

/** The type of a file by its first bytes. What the client says about it is not trusted. */
export function mediaTypeOf(start: Uint8Array): string {
  const text = Buffer.from(start.subarray(0, SIGNATURE_BYTES)).toString("latin1");
  return SIGNATURES.find(([, begin, at8 = ""]) => text.startsWith(begin) && text.startsWith(at8, 8))?.[0] ?? OTHER;
}
