import fc from "fast-check";
import { expect, test } from "vitest";
import { checkDefinition, type Definition } from "./definition.ts";
import {
  carriesRelease,
  isReleased,
  isReleasedForKeys,
  mayUseFreeSql,
  newlyExposed,
  reportsCompletion,
  runsReadOnly,
} from "./release.ts";

const GUARDED = ["external_api", "external_api_write", "inbound_hook", "inbound_hook_write", "public_api"];

function definitionWith(flags: Record<string, unknown>): Definition {
  const checked = checkDefinition({ description: "", query: "q", ...flags }, (code) => ({ ok: true, code }));
  if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
  return checked.definition;
}

const jsonButTrue = fc.jsonValue().filter((value) => value !== true);

test("[TOOL-14] external_api exactly true releases a tool for keys", () => {
  expect(isReleasedForKeys(definitionWith({ external_api: true }))).toBe(true);
  expect(isReleasedForKeys(definitionWith({}))).toBe(false);
});

test('[TOOL-15] 1, "yes", "true" and every other value but true release nothing', () => {
  for (const external_api of [1, "yes", "true", [true], { true: true }]) {
    expect(isReleasedForKeys(definitionWith({ external_api }))).toBe(false);
  }
  fc.assert(
    fc.property(jsonButTrue, (external_api) => {
      expect(isReleasedForKeys(definitionWith({ external_api }))).toBe(false);
      expect(carriesRelease({ external_api })).toBe(false);
    }),
  );
});

test("[TOOL-17] a truthy async of whatever type blocks a released tool", () => {
  for (const async of [true, 1, "no", {}, []]) {
    expect(isReleasedForKeys(definitionWith({ external_api: true, async }))).toBe(false);
  }
  for (const async of [false, 0, "", null]) {
    expect(isReleasedForKeys(definitionWith({ external_api: true, async }))).toBe(true);
  }
});

test("[TOOL-3] public_api does not release a tool for keys", () => {
  expect(isReleasedForKeys(definitionWith({ public_api: true, inbound_hook: true }))).toBe(false);
});

test("[TOOL-14] a saved definition and a read one carry the same release", () => {
  fc.assert(
    fc.property(fc.constantFrom(true, false, 1, "yes", null), fc.jsonValue(), (external_api, async) => {
      const saved = { external_api, async };
      expect(carriesRelease(saved)).toBe(isReleasedForKeys(definitionWith(saved)));
    }),
  );
  expect(carriesRelease(undefined)).toBe(false);
  expect(carriesRelease(Object.create({ external_api: true }))).toBe(false);
});

test("[RO-1] a call by key reads only, whatever stands in the write flag but true", () => {
  expect(runsReadOnly(definitionWith({ external_api: true }), "api_key")).toBe(true);
  fc.assert(
    fc.property(jsonButTrue, (external_api_write) => {
      expect(runsReadOnly(definitionWith({ external_api: true, external_api_write }), "api_key")).toBe(true);
    }),
  );
  expect(runsReadOnly(definitionWith({ external_api: true, inbound_hook_write: true }), "api_key")).toBe(true);
});

test("[RO-7] external_api_write exactly true lets a call by key write", () => {
  expect(runsReadOnly(definitionWith({ external_api_write: true }), "api_key")).toBe(false);
});

test.each([
  ["api_key", ["external_api"]],
  ["public_api", ["public_api"]],
  ["hook", ["inbound_hook", "external_api"]],
] as const)("[TOOL-3] [TOOL-4] [IN-48] [IN-49] [IN-50] a start by %s needs one of %j, exactly true", (entry, flags) => {
  for (const flag of [...GUARDED, "webhook_event"]) {
    const opens = (flags as readonly string[]).includes(flag);
    expect(isReleased(definitionWith({ [flag]: true }), entry), flag).toBe(opens);
    for (const value of [1, "yes", "true", [true]]) {
      expect(isReleased(definitionWith({ [flag]: value }), entry)).toBe(false);
    }
  }
});

test("[IN-51] an async tool is no target of a hook", () => {
  expect(isReleased(definitionWith({ inbound_hook: true, external_api: true, async: true }), "hook")).toBe(false);
});

test.each(["chat", "scheduled_task", "test"] as const)("[EXPO] a start by %s needs no flag and may write", (entry) => {
  expect(isReleased(definitionWith({}), entry)).toBe(true);
  expect(runsReadOnly(definitionWith({}), entry)).toBe(false);
});

test("[IN-52] [IN-53] [IN-54] a hook's run reads only, unless one of the two write flags is exactly true", () => {
  expect(runsReadOnly(definitionWith({ inbound_hook: true }), "hook")).toBe(true);
  expect(runsReadOnly(definitionWith({ inbound_hook: true, inbound_hook_write: "yes" }), "hook")).toBe(true);
  expect(runsReadOnly(definitionWith({ inbound_hook_write: true }), "hook")).toBe(false);
  expect(runsReadOnly(definitionWith({ external_api_write: true }), "hook")).toBe(false);
});

test("[RO-4] free SQL is for runs from inside that may write", () => {
  for (const entryType of ["api_key", "dry_run", "public_api"] as const) {
    expect(mayUseFreeSql({ entryType, readOnly: false })).toBe(false);
  }
  for (const entryType of ["chat", "scheduled_task", "hook", "test"] as const) {
    expect(mayUseFreeSql({ entryType, readOnly: false })).toBe(true);
    expect(mayUseFreeSql({ entryType, readOnly: true })).toBe(false);
  }
});

test("[EVT-25] [EVT-27] [EVT-28] [EVT-30] [LOOP-1] which starts report tool.completed", () => {
  for (const entryType of ["api_key", "dry_run", "chat", "scheduled_task", "public_api", "hook", "test"] as const) {
    const reports = ["api_key", "chat", "scheduled_task", "public_api"].includes(entryType);
    expect(reportsCompletion({ entryType, hop: 1, testMode: false })).toBe(reports);
    expect(reportsCompletion({ entryType, hop: 2, testMode: false })).toBe(false);
    expect(reportsCompletion({ entryType, hop: 1, testMode: true })).toBe(false);
  }
});

test("[EXPO-1] exactly the five guarded flags are asked about", () => {
  const all = Object.fromEntries([...GUARDED, "webhook_event", "async"].map((flag) => [flag, true]));
  expect(newlyExposed(undefined, all).sort()).toEqual(GUARDED);
});

test.each(GUARDED)("[EXPO-3] %s that becomes true is newly exposed, in a new tool and in an old one", (flag) => {
  expect(newlyExposed(undefined, { [flag]: true })).toEqual([flag]);
  expect(newlyExposed({}, { [flag]: true })).toEqual([flag]);
  expect(newlyExposed({ [flag]: "yes" }, { [flag]: true })).toEqual([flag]);
});

test.each(GUARDED)("[EXPO-5] %s that stays true needs no confirmation", (flag) => {
  expect(newlyExposed({ [flag]: true }, { [flag]: true, description: "new" })).toEqual([]);
});

test("[EXPO-4] what is confirmed is named flag by flag, those already true left out", () => {
  const before = { external_api: true };
  expect(newlyExposed(before, { external_api: true, external_api_write: true })).toEqual(["external_api_write"]);
});

test.each(GUARDED)("[EXPO-6] %s that is removed or set to anything but true needs no confirmation", (flag) => {
  fc.assert(
    fc.property(jsonButTrue, (value) => {
      expect(newlyExposed({ [flag]: true }, { [flag]: value })).toEqual([]);
      expect(newlyExposed(undefined, { [flag]: value })).toEqual([]);
    }),
    { numRuns: 30 },
  );
  expect(newlyExposed({ [flag]: true }, {})).toEqual([]);
});
