import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { AssistantDefinitionSchema } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { changedFields, isReleasedForHooks, newlyExposed, runsReadOnlyForHooks } from "./exposure.ts";

const definition = (init: MessageInitShape<typeof AssistantDefinitionSchema> = {}) =>
  create(AssistantDefinitionSchema, init);

test("[EXPO-3] [EXPO-5] [EXPO-6] a flag is newly exposed if it is on now and was not before", () => {
  fc.assert(
    fc.property(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean(), (hook, write, hookBefore, writeBefore) => {
      const before = definition({ inboundHook: hookBefore, inboundHookWrite: writeBefore });
      const exposed = newlyExposed(before, definition({ inboundHook: hook, inboundHookWrite: write }));
      expect(exposed.includes("inbound_hook")).toBe(hook && !hookBefore);
      expect(exposed.includes("inbound_hook_write")).toBe(write && !writeBefore);
    }),
  );
});

test("[EXPO-3] every flag of a new assistant is newly exposed", () => {
  const both = definition({ inboundHook: true, inboundHookWrite: true });
  expect(newlyExposed(undefined, both)).toEqual(["inbound_hook", "inbound_hook_write"]);
});

test("[IN-55] [IN-57] only inbound_hook releases an assistant, and only inbound_hook_write lets it write", () => {
  expect(isReleasedForHooks(undefined)).toBe(false);
  expect(isReleasedForHooks(definition({ inboundHookWrite: true }))).toBe(false);
  expect(isReleasedForHooks(definition({ inboundHook: true }))).toBe(true);
  expect(runsReadOnlyForHooks(definition({ inboundHook: true }))).toBe(true);
  expect(runsReadOnlyForHooks(definition({ inboundHook: true, inboundHookWrite: true }))).toBe(false);
});

test("changed fields have their names in the proto, and no values", () => {
  const before = definition({ instructions: "a", tools: ["x", "y"] });
  const after = definition({ instructions: "a", tools: ["y", "x"], inboundHook: true });
  expect(changedFields(before, after)).toEqual(["tools", "inbound_hook"]);
  expect(changedFields(before, before)).toEqual([]);
  expect(changedFields(undefined, before)).toEqual(["instructions", "tools"]);
});
