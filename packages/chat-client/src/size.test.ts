import { rolldown } from "rolldown";
import { expect, test } from "vitest";

const MAX_BYTES = 6_000;

test("the minified client has less than 6 kB and imports nothing", async () => {
  const bundle = await rolldown({ input: new URL("chat.ts", import.meta.url).pathname });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  expect(output).toHaveLength(1);
  expect(output[0].imports).toEqual([]);
  expect(Buffer.byteLength(output[0].code)).toBeLessThan(MAX_BYTES);
});
