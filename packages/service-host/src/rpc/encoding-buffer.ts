import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** Longer messages get buffers of their own. The library's buffers of 128 bytes never reach this length by doubling. */
const BUFFER_BYTES = 65_000;
const NO_BYTES = new Uint8Array(0);
const NO_VIEW = new DataView(NO_BYTES.buffer);

/** What `BinaryWriter` has inside. */
interface Writer {
  buffer: Uint8Array;
  viewCache: DataView;
  ensureCapacity(bytes: number): void;
  finish(): Uint8Array;
}

let isShared = false;

/**
 * From now on, the messages that this process encodes share one buffer. By itself the library begins each message with 128
 * bytes and doubles them until it fits, and calls travel in messages of many KiB (bench/PROFILE.md). A message that is
 * encoded while another one has the buffer, or after one that could not be encoded, gets a new one.
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
    ensureCapacity.call(this, bytes);
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
