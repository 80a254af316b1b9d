import { expect, test } from "vitest";
import type { ProcessEvents, SpawnProcess } from "../processes/engine-process.ts";
import { encodeFrame } from "../protocol/frames.ts";
import { Children } from "./children.ts";

const SETTINGS = {
  functions: [],
  hostCallsPerRun: 1,
  concurrentHostCallsPerRun: 1,
  hostCallBytes: 1,
  logLinesPerRun: 1,
};
const EVENTS = { onMessage: () => {}, onFrame: () => {}, onLeaving: () => {}, onEnd: () => {} };

/** Processes that come up and end when the test says so. */
function openChildren(now: () => number) {
  const started: ProcessEvents[] = [];
  const spawn: SpawnProcess = (_settings, events) => {
    started.push(events);
    return {
      pid: undefined,
      write: () => {},
      setLane: () => {},
      reading: () => undefined,
      currentStep: () => 0,
      takeBack: () => {},
      rest: () => {},
      kill: () => end(events),
    };
  };
  const end = (events?: ProcessEvents) =>
    events?.onEnd({ signal: "SIGKILL", code: null, stderr: "", outOfMemory: false });
  const comeUp = (events?: ProcessEvents) => events?.onData(encodeFrame({ done: 0, messages: [] }));
  return { children: new Children(1, SETTINGS, spawn, EVENTS, now), comeUp, end, started };
}

test("[TOOL-2] an idle child that had been up for a while is replaced immediately, however often it ends", async () => {
  let nowMs = 0;
  const { children, comeUp, end, started } = openChildren(() => nowMs);
  await using _children = children;
  for (let round = 0; round < 10; round += 1) {
    const before = started.length;
    comeUp(started.at(-1));
    nowMs += 60_000;
    end(started.at(-1));
    expect(started.length).toBe(before + 1);
  }
});

test("[TOOL-2] a child that ends while it starts, or soon after, is replaced after a pause", async () => {
  const { children, comeUp, end, started } = openChildren(() => 0);
  await using _children = children;
  end(started.at(-1));
  comeUp(started.at(0));
  end(started.at(0));
  expect(started.length).toBe(2);
});
