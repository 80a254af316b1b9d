import fc from "fast-check";
import { expect, test } from "vitest";
import { checkDefinition } from "./check-definition.ts";
import type { Definition } from "./definition.ts";
import {
  carriesRelease,
  type EntryType,
  isReleased,
  mayUseFreeSql,
  newlyExposed,
  reportsCompletion,
  runsReadOnly,
} from "./release.ts";

const GUARDED = ["external_api", "external_api_write", "inbound_hook", "inbound_hook_write", "public_api"];

function definitionWith(flags: Record<string, unknown>): Definition {
  const checked = checkDefinition({ description: "", query: "q", ...flags }, undefined);
  if (!checked.ok) throw new Error(JSON.stringify(checked.violations));
  return checked.definition;
}

const jsonButTrue = fc.jsonValue().filter((value) => value !== true);

test("[TOOL-15] every value but true releases nothing", () => {
  fc.assert(
    fc.property(jsonButTrue, (external_api) => {
      expect(isReleased(definitionWith({ external_api }), "api_key")).toBe(false);
      expect(carriesRelease({ external_api })).toBe(false);
    }),
  );
});

test("[TOOL-17] a truthy async of any type blocks a released tool", () => {
  for (const async of [true, 1, "no", {}, []]) {
    expect(isReleased(definitionWith({ external_api: true, async }), "api_key")).toBe(false);
  }
  for (const async of [false, 0, "", null]) {
    expect(isReleased(definitionWith({ external_api: true, async }), "api_key")).toBe(true);
  }
});

test("[TOOL-14] a definition as saved and as run has the same release", () => {
  fc.assert(
    fc.property(fc.constantFrom(true, false, 1, "yes", null), fc.jsonValue(), (external_api, async) => {
      const saved = { external_api, async };
      expect(carriesRelease(saved)).toBe(isReleased(definitionWith(saved), "api_key"));
    }),
  );
  expect(carriesRelease(undefined)).toBe(false);
  expect(carriesRelease(Object.create({ external_api: true }))).toBe(false);
});

test("[RO-1] [RO-7] a call by key may only read unless the write flag is exactly true", () => {
  expect(runsReadOnly(definitionWith({ external_api_write: true }), "api_key")).toBe(false);
  expect(runsReadOnly(definitionWith({ external_api: true }), "api_key")).toBe(true);
  fc.assert(
    fc.property(jsonButTrue, (external_api_write) => {
      expect(runsReadOnly(definitionWith({ external_api: true, external_api_write }), "api_key")).toBe(true);
    }),
  );
  expect(runsReadOnly(definitionWith({ external_api: true, inbound_hook_write: true }), "api_key")).toBe(true);
});

function expectReleasedOnlyBy(entry: EntryType, flags: string[]): void {
  for (const flag of [...GUARDED, "webhook_event"]) {
    expect(isReleased(definitionWith({ [flag]: true }), entry), flag).toBe(flags.includes(flag));
    for (const value of [1, "yes", "true", [true], { true: true }]) {
      expect(isReleased(definitionWith({ [flag]: value }), entry)).toBe(false);
    }
  }
}

test("[TOOL-3] [TOOL-4] the API of keys needs external_api, the public one public_api, each exactly true", () => {
  expectReleasedOnlyBy("api_key", ["external_api"]);
  expectReleasedOnlyBy("public_api", ["public_api"]);
});

test("[IN-48] [IN-49] [IN-50] [IN-51] a hook needs inbound_hook or external_api, exactly true, and no async", () => {
  expectReleasedOnlyBy("hook", ["inbound_hook", "external_api"]);
  expect(isReleased(definitionWith({ inbound_hook: true, async: true }), "hook")).toBe(false);
});

test.each(["chat", "scheduled_task"] as const)("[EXPO] a run by %s needs no flag and may write", (entry) => {
  expect(isReleased(definitionWith({}), entry)).toBe(true);
  expect(isReleased(definitionWith({ async: true }), entry)).toBe(true);
  expect(runsReadOnly(definitionWith({}), entry)).toBe(false);
});

test("[IN-52] [IN-53] [IN-54] a hook's run only reads, unless one of the two write flags is exactly true", () => {
  expect(runsReadOnly(definitionWith({ inbound_hook: true }), "hook")).toBe(true);
  expect(runsReadOnly(definitionWith({ inbound_hook: true, inbound_hook_write: "yes" }), "hook")).toBe(true);
  expect(runsReadOnly(definitionWith({ inbound_hook_write: true }), "hook")).toBe(false);
  expect(runsReadOnly(definitionWith({ external_api_write: true }), "hook")).toBe(false);
});

test("[RO-4] free SQL is for callers from inside, in runs that may write", () => {
  for (const entryType of ["api_key", "dry_run", "public_api"] as const) {
    expect(mayUseFreeSql({ entryType, readOnly: false })).toBe(false);
  }
  for (const entryType of ["chat", "scheduled_task", "hook"] as const) {
    expect(mayUseFreeSql({ entryType, readOnly: false })).toBe(true);
    expect(mayUseFreeSql({ entryType, readOnly: true })).toBe(false);
  }
});

test("[EVT-25] [EVT-27] [EVT-28] [EVT-30] [LOOP-1] dry runs, test mode and all that a hook causes report nothing", () => {
  for (const entryType of ["dry_run", "hook"] as const) {
    expect(reportsCompletion({ entryType, hop: 1, testMode: false }), entryType).toBe(false);
  }
  for (const entryType of ["chat", "scheduled_task", "public_api", "api_key"] as const) {
    expect(reportsCompletion({ entryType, hop: 1, testMode: false }), entryType).toBe(true);
    expect(reportsCompletion({ entryType, hop: 1, testMode: true }), entryType).toBe(false);
    expect(reportsCompletion({ entryType, hop: 2, testMode: false }), entryType).toBe(false);
  }
});

test("[EXPO-1] [EXPO-4] exactly the five guarded flags need a confirmation, which names each", () => {
  const all = Object.fromEntries([...GUARDED, "webhook_event", "async"].map((flag) => [flag, true]));
  expect(newlyExposed(undefined, all).sort()).toEqual(GUARDED);
});

test.each(GUARDED)("[EXPO-3] [EXPO-5] %s that becomes true is newly exposed, one that stays true is not", (flag) => {
  expect(newlyExposed({ [flag]: true }, { [flag]: true, description: "new" })).toEqual([]);
  expect(newlyExposed(undefined, { [flag]: true })).toEqual([flag]);
  expect(newlyExposed({}, { [flag]: true })).toEqual([flag]);
  expect(newlyExposed({ [flag]: "yes" }, { [flag]: true })).toEqual([flag]);
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
