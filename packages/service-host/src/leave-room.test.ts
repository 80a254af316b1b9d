import { create, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { ListKeysResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { ReadSheetResponseSchema } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { expect, test } from "vitest";
import { isLargePage, leaveRoom } from "./leave-room.ts";

test("pieces of one workspace continue one after another, with turns of the event loop in between", async () => {
  let turns = 0;
  let isCounting = true;
  const count = () => {
    turns += 1;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
  const resolvedAt = await Promise.all(
    Array.from({ length: 12 }, async () => {
      await leaveRoom("one");
      return turns;
    }),
  );
  isCounting = false;
  expect(resolvedAt).toEqual(resolvedAt.toSorted((a, b) => a - b));
  expect(new Set(resolvedAt).size).toBe(12);
});

test("a workspace does not wait for the pieces of another", async () => {
  const order: string[] = [];
  const leave = async (workspaceId: string) => {
    await leaveRoom(workspaceId);
    order.push(workspaceId);
  };
  await Promise.all([...Array.from({ length: 12 }, () => leave("one")), leave("another")]);
  expect(order.indexOf("another")).toBeLessThan(2);
});

test("a page is large from 20 entries on", () => {
  const page = (entries: number) =>
    create(ListKeysResponseSchema, { keys: Array.from({ length: entries }, () => ({})) });
  expect([0, 19, 20].map((entries) => isLargePage(page(entries)))).toEqual([false, false, true]);
  const sheet = (rows: number) =>
    create(ReadSheetResponseSchema, {
      values: fromJson(
        ListValueSchema,
        Array.from({ length: rows }, () => ["a"]),
      ),
    });
  expect([0, 19, 20].map((rows) => isLargePage(sheet(rows)))).toEqual([false, false, true]);
  expect(isLargePage(create(ReadSheetResponseSchema, {}))).toBe(false);
});
