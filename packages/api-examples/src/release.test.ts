import { expect, test } from "vitest";
import { explainRelease } from "./release.ts";

test("[TOOL-14] [TOOL-15] [BLD-30] only true releases; other values are set without effect", () => {
  expect(explainRelease({ external_api: true })).toMatchObject({ released: true, releasedWithoutEffect: false });
  for (const external_api of [1, "yes", "true", "false", {}])
    expect(explainRelease({ external_api })).toMatchObject({ released: false, releasedWithoutEffect: true });
  for (const definition of [{}, { external_api: false }, { external_api: 0 }, Object.create({ external_api: true })])
    expect(explainRelease(definition)).toMatchObject({ released: false, releasedWithoutEffect: false });
});

test("[TOOL-17] [BLD-31] any value that is not false, 0 or empty makes a tool async", () => {
  for (const async of [true, 1, "no"]) expect(explainRelease({ async }).async).toBe(true);
  for (const async of [false, 0, "", null, undefined]) expect(explainRelease({ async }).async).toBe(false);
});
