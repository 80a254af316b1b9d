import fc from "fast-check";
import { expect, it } from "vitest";
import { ATTEMPTS_PER_MESSAGE } from "../store/queue.ts";
import { messageIdOf } from "./attempt-sender.ts";

it("[FAIR] messages to workers are of moderate size, and a large body is alone in its message", () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 256 * 1024 }), { maxLength: 60 });
  fc.assert(
    fc.property(sizes, (bodies) => {
      const ids = bodies.map((bytes, index) => {
        const messageId = `claim.${Math.floor(index / ATTEMPTS_PER_MESSAGE)}`;
        return { id: messageIdOf({ messageId, deliveryId: String(index) }, bytes), bytes };
      });
      for (const together of Map.groupBy(ids, ({ id }) => id).values()) {
        const bytes = together.reduce((sum, one) => sum + one.bytes, 0);
        expect(bytes).toBeLessThanOrEqual(512 * 1024);
        if (together.length > 1) expect(Math.max(...together.map((one) => one.bytes))).toBeLessThanOrEqual(32 * 1024);
      }
    }),
    { numRuns: 40 },
  );
});
