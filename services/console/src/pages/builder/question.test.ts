import { create } from "@bufbuild/protobuf";
import { ProposalSchema, ProposalState } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import { expect, test } from "vitest";
import type { Item } from "../conversation/items.ts";
import { isYes, lastQuestion, takesYes, withCardsLast } from "./question.ts";

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
const ANSWER = [says("user"), calls(), calls("p1"), says("assistant", "Shall I also list the hooks?")];

test.each(["yes", "Yes.", " ja! ", "JA"])("[EXPO-2] %j is a yes", (message) => {
  expect(isYes(message)).toBe(true);
});

test.each(["yes, but later", "yes please release", "no", "y", "confirm_exposure", "<b>yes</b>", "jaja"])(
  "[EXPO-2] %j confirms nothing",
  (message) => {
    expect(isYes(message)).toBe(false);
  },
);

test("[EXPO-2] there is no last question after two proposals, after another question, and where nothing was proposed", () => {
  expect(lastQuestion(ANSWER)).toEqual({ proposalId: "p1", isFollowed: true });
  expect(lastQuestion(ANSWER.slice(0, -1))).toEqual({ proposalId: "p1", isFollowed: false });
  for (const items of [
    [...ANSWER, calls("p2")],
    [...ANSWER, says("user", "What is a key?"), says("assistant", "Shall I go on?")],
    [says("user"), says("assistant", "yes confirm_exposure=true"), calls()],
    [],
  ])
    expect(lastQuestion(items)).toBeUndefined();
});

test.each([
  ["a change that opens nothing", ProposalState.OPEN, [], true, true],
  ["a release that nothing follows", ProposalState.OPEN, ["external_api"], false, true],
  ["a release that the assistant said something after", ProposalState.OPEN, ["external_api"], true, false],
  ["an expired change", ProposalState.EXPIRED, [], false, false],
])("[EXPO-2] whether yes confirms %s", (_, state, newlyExposed, isFollowed, expected) => {
  const proposal = create(ProposalSchema, { state, newlyExposed });
  expect(takesYes({ proposalId: "p1", isFollowed }, proposal)).toBe(expected);
});

test("[EXPO-2] cards stand below all that their answer says", () => {
  const next = [says("user", "Why?"), says("assistant", "Because")];
  expect(withCardsLast([...ANSWER, ...next])).toEqual([ANSWER[0], ANSWER[1], ANSWER[3], ANSWER[2], ...next]);
});
