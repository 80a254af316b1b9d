import { create } from "@bufbuild/protobuf";
import { AttemptSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import fc from "fast-check";
import { expect, it } from "vitest";
import { splitAttempts } from "./attempt-sender.ts";

it("[FAIR] messages to workers are of moderate size, complete and in order", () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 256 * 1024 }), { maxLength: 60 });
  fc.assert(
    fc.property(sizes, (bodies) => {
      const attempts = bodies.map((bytes, index) =>
        create(AttemptSchema, { deliveryId: String(index), body: Buffer.alloc(bytes) }),
      );
      const parts = splitAttempts(attempts);
      expect(parts.flat()).toEqual(attempts);
      for (const part of parts) {
        expect(part.length).toBeLessThanOrEqual(16);
        expect(part.reduce((bytes, attempt) => bytes + attempt.body.length, 0)).toBeLessThanOrEqual(512 * 1024);
      }
      const bytes = bodies.reduce((sum, one) => sum + one, 0);
      expect(parts.length).toBeLessThanOrEqual(Math.ceil(bodies.length / 16) + Math.ceil(bytes / (256 * 1024)));
    }),
    { numRuns: 40 },
  );
});
