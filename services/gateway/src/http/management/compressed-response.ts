import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Compression } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";

const compressed = promisify(gzip);

/**
 * A list of 50 keys has 18 kB, and 3.4 kB compressed. Level 1 makes it 11 % larger than level 6, in half the time. The work is
 * done by zlib's threads; this one spends about 0.3 ms on it.
 */
const LEVEL = 1;

export const COMPRESS_FROM_BYTES = 1_024;

/** How responses are compressed for clients that accept gzip. */
export const RESPONSE_COMPRESSION: Compression = {
  ...compressionGzip,
  compress: (bytes) => compressed(bytes, { level: LEVEL }),
};
