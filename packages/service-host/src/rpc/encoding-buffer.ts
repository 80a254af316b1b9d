import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** Not 128 times a power of two, so the library never makes a buffer of this length: the length tells the shared one. */
const BUFFER_BYTES = 65_000;
const NO_BYTES = new Uint8Array(0);
const NO_VIEW = new DataView(NO_BYTES.buffer);

/** The private fields of `BinaryWriter` of protobuf-es 2.17 that this file relies on. */
interface Writer {
  buffer: Uint8Array;
  viewCache: DataView;
  pos: number;
  ensureCapacity(bytes: number): void;
  finish(): Uint8Array;
}

let isShared = false;

/**
 * From now on, the messages that this process encodes share one buffer. By itself the library begins each message with 128
 * bytes and doubles them until it fits, and calls travel in messages of many KiB. A message that does not
 * fit moves to a buffer of its own. A new shared buffer is made for a message that is encoded while another one is using the
 * shared one, and after a message that could not be encoded.
 */
export function shareEncodingBuffer(): void {
  if (isShared) return;
  isShared = true;
  const writer = BinaryWriter.prototype as unknown as Writer;
  const { ensureCapacity, finish } = writer;
  let free: Uint8Array | undefined;
  writer.ensureCapacity = function (bytes) {
    if (this.buffer.length === 0) {
      this.buffer = free ?? new Uint8Array(BUFFER_BYTES);
      free = undefined;
    }
    if (this.pos + bytes <= this.buffer.length) return;
    const outgrown = this.buffer;
    ensureCapacity.call(this, bytes);
    if (outgrown.length === BUFFER_BYTES) free = outgrown;
  };
  writer.finish = function () {
    const message = finish.call(this);
    if (this.buffer.length === BUFFER_BYTES) {
      free = this.buffer;
      this.buffer = NO_BYTES;
      this.viewCache = NO_VIEW;
    }
    return message;
  };
}
