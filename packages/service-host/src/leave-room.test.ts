import { create } from "@bufbuild/protobuf";
import { ListKeysResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { expect, test } from "vitest";
import { isLargePage, leaveRoom } from "./leave-room.ts";

test("those that leave room at the same time continue one after another, with turns of the event loop in between", async () => {
  let turns = 0;
  let isCounting = true;
  const count = () => {
    turns += 1;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
  const resolvedAt = await Promise.all(
    Array.from({ length: 8 }, async () => {
      await leaveRoom();
      return turns;
    }),
  );
  isCounting = false;
  expect(resolvedAt).toEqual(resolvedAt.toSorted((a, b) => a - b));
  expect(new Set(resolvedAt).size).toBe(8);
});

test("no more than eight wait, so that nobody waits long, and all are heard again afterwards", async () => {
  const order: number[] = [];
  const leave = async (name: number) => {
    await leaveRoom();
    order.push(name);
  };
  await Promise.all(Array.from({ length: 12 }, (_, name) => leave(name)));
  expect(order).toEqual([8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7]);
  order.length = 0;
  const first = leave(0);
  expect(order).toEqual([]);
  await first;
  expect(order).toEqual([0]);
});

test("a page is large from 20 entries on", () => {
  const page = (entries: number) =>
    create(ListKeysResponseSchema, { keys: Array.from({ length: entries }, () => ({})) });
  expect([0, 19, 20].map((entries) => isLargePage(page(entries)))).toEqual([false, false, true]);
});
