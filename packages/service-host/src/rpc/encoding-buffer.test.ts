import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { type Call, CallBatchSchema } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { shareEncodingBuffer } from "./encoding-buffer.ts";

beforeAll(() => {
  shareEncodingBuffer();
  shareEncodingBuffer();
});

const calls = fc.array(
  fc.record({
    id: fc.nat(),
    // Some are longer than the shared buffer.
    request: fc.tuple(fc.nat(100_000), fc.nat(255)).map(([length, byte]) => new Uint8Array(length).fill(byte)),
    requestId: fc.string({ unit: "grapheme", maxLength: 3_000 }),
  }),
  { maxLength: 4 },
);

const textOf = ({ id, request, requestId }: Pick<Call, "id" | "request" | "requestId">) =>
  `${id} ${Buffer.from(request).toString("latin1")} ${requestId}`;

const batch = (values: Pick<Call, "id" | "request" | "requestId">[]) => create(CallBatchSchema, { calls: values });

test("messages of all sizes decode to what was encoded, also after the next one was encoded", () => {
  fc.assert(
    fc.property(calls, calls, (first, second) => {
      const encoded = [first, second].map((values) => toBinary(CallBatchSchema, batch(values)));
      // After both, so that the second could have damaged the first.
      const decoded = encoded.map((bytes) => fromBinary(CallBatchSchema, bytes));
      expect(decoded.map(({ calls: all }) => all.map(textOf))).toEqual([first, second].map((all) => all.map(textOf)));
    }),
    { numRuns: 50 },
  );
});

const bufferOf = (writer: BinaryWriter) => (writer as unknown as { buffer: Uint8Array }).buffer;

test("a message gets the buffer of the one before it", () => {
  const first = new BinaryWriter().uint32(1);
  const buffer = bufferOf(first);
  first.finish();
  const second = new BinaryWriter().uint32(2);
  expect(bufferOf(second)).toBe(buffer);
  expect([...second.finish()]).toEqual([2]);
});

test("a message that does not fit leaves the buffer to the next one", () => {
  const small = new BinaryWriter().uint32(1);
  const buffer = bufferOf(small);
  small.finish();
  // The library makes room for three times as many bytes.
  const long = new BinaryWriter().double(1).string("x".repeat(22_000)).double(2);
  expect(bufferOf(long)).not.toBe(buffer);
  const next = new BinaryWriter().double(3);
  expect(bufferOf(next)).toBe(buffer);
  const bytes = long.finish();
  expect([8 + 3 + 22_000 + 8, 1, 2]).toEqual([
    bytes.length,
    Buffer.from(bytes).readDoubleLE(0),
    Buffer.from(bytes).readDoubleLE(22_011),
  ]);
  expect(Buffer.from(next.finish()).readDoubleLE(0)).toBe(3);
});

test("messages that are encoded at the same time do not share a buffer, and a writer can be used again", () => {
  const [first, second] = [new BinaryWriter().float(1), new BinaryWriter().float(2)];
  first.double(3);
  second.double(4);
  const floats = (bytes: Uint8Array) => {
    const view = new DataView(bytes.buffer);
    return [view.getFloat32(0, true), view.getFloat64(4, true)];
  };
  expect([first, second].map((writer) => floats(writer.finish()))).toEqual([
    [1, 3],
    [2, 4],
  ]);
  const other = new BinaryWriter().float(5);
  expect(floats(first.float(6).double(7).finish())).toEqual([6, 7]);
  expect(floats(other.double(8).finish())).toEqual([5, 8]);
});

test("after a message that cannot be encoded, the others share a buffer again", () => {
  for (let count = 0; count < 3; count += 1) {
    expect(() => toBinary(CallBatchSchema, batch([{ id: -1, request: new Uint8Array(9), requestId: "" }]))).toThrow();
  }
  const buffers = [1, 2, 3].map((value) => {
    const writer = new BinaryWriter().uint32(value);
    const buffer = bufferOf(writer);
    writer.finish();
    return buffer;
  });
  expect(new Set(buffers).size).toBe(1);
});
