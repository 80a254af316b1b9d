import { expect, it } from "vitest";
import { Compiler, LOAD_LIMIT_MS } from "../../src/compiler.ts";
import { SLOW_SOURCES } from "../kinds/sources.ts";

const HANDLER = "export default () => 1;";
/** Slow enough for every machine: declarations are compared with each other. */
const SLOWEST = SLOW_SOURCES["declarations of one block"] as string;
const LIMIT_MS = 300;

it("[TOOL-2] sources that take long to check delay no other workspace", async () => {
  await using compiler = new Compiler();
  let ended = 0;
  for (const n of [1, 2, 3]) {
    void compiler.compile("slow", `${SLOWEST}// ${n}`, LOAD_LIMIT_MS).then(() => {
      ended += 1;
    });
  }
  for (let n = 0; n < 5; n += 1) {
    expect(await compiler.compile(`w${n}`, `${HANDLER}// ${n}`, LOAD_LIMIT_MS)).toMatchObject({ ok: true });
  }
  expect(ended).toBe(0);
});

it("[TOOL-2] a workspace whose source was refused can save others", async () => {
  await using compiler = new Compiler();
  const refused = await Promise.all([1, 2, 3, 4].map((n) => compiler.compile("w", `${SLOWEST}// ${n}`, LIMIT_MS)));
  for (const result of refused) {
    expect(result).toMatchObject({ ok: false, violations: [{ message: "The handler takes too long to check" }] });
  }
  expect(await compiler.compile("w", HANDLER, LOAD_LIMIT_MS)).toMatchObject({ ok: true });
});

it("[TOOL-2] many sources of one workspace that wait for the check are refused", async () => {
  await using compiler = new Compiler();
  const results = await Promise.all(
    Array.from({ length: 80 }, (_, n) => compiler.compile("w", `${HANDLER}// ${n}`, LOAD_LIMIT_MS)),
  );
  expect(results.filter(({ ok }) => ok).length).toBeGreaterThanOrEqual(64);
  expect(results.at(-1)).toMatchObject({ ok: false, violations: [{ message: /^Too many handlers/ }] });
});

it("[TOOL-2] a source with the longest name that the factory must avoid compiles in time", async () => {
  await using compiler = new Compiler();
  const source = `${HANDLER}// $handler${"$".repeat(200_000)}`;
  expect(await compiler.compile("w", source, LOAD_LIMIT_MS)).toMatchObject({ ok: true });
});
