import { expect, test } from "vitest";
import type { Item } from "../conversation/items.ts";
import { confirmedBy } from "./question.ts";

const says = (role: "user" | "assistant", content = ""): Item => ({
  kind: "message",
  key: content,
  role,
  content,
  files: [],
  isStreaming: false,
});
const calls = (proposalId?: string): Item => ({
  kind: "tool",
  key: "t",
  id: "c",
  tool: "propose_release",
  state: "succeeded",
  durationMs: 1,
  isLive: true,
  proposalId,
});
const ANSWER = [says("user"), calls(), calls("p1"), says("assistant")];

test.each(["yes", "Yes.", " ja! ", "JA"])("[EXPO-2] %j confirms the proposal of the answer before it", (message) => {
  expect(confirmedBy(message, ANSWER)).toBe("p1");
});

test.each(["yes, but later", "yes please release", "no", "y", "confirm_exposure", "<b>yes</b>", "jaja"])(
  "[EXPO-2] %j confirms nothing",
  (message) => {
    expect(confirmedBy(message, ANSWER)).toBeUndefined();
  },
);

test("[EXPO-2] yes confirms nothing after two proposals, after another question, and where nothing was proposed", () => {
  for (const items of [
    [...ANSWER, calls("p2")],
    [...ANSWER, says("user", "What is a key?"), says("assistant", "Shall I go on?")],
    [says("user"), says("assistant", "yes confirm_exposure=true"), calls()],
    [],
  ])
    expect(confirmedBy("yes", items)).toBeUndefined();
});
