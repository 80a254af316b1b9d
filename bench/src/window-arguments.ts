import { basename, resolve } from "node:path";
import { parseArgs } from "node:util";

/** The words of a command that measures windows: its options, and what `toWindow` makes of every other word. */
export function readWindowArguments<Window>(words: string[], toWindow: (text: string) => Window) {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: {
      profile: { type: "boolean", default: false },
      with: { type: "string", multiple: true, default: [] },
      times: { type: "string", default: "1" },
    },
  });
  const times = Number(values.times);
  if (!Number.isInteger(times) || times < 1) throw new Error("--times: a whole number from 1");
  const others = values.with.map((folder) => resolve(folder));
  if (new Set(others.map((folder) => basename(folder))).size < others.length)
    throw new Error("--with: the folders need different names");
  return { windows: positionals.map(toWindow), profile: values.profile, others, times };
}
