import { basename, resolve } from "node:path";

/** The words of a command that measures windows: its options, and what `toWindow` makes of every other word. */
export function readWindowArguments<Window>(words: readonly string[], toWindow: (text: string) => Window) {
  const windows: Window[] = [];
  let profile = false;
  const others: string[] = [];
  let times = 1;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (word === "--profile") profile = true;
    else if (word === "--with") others.push(resolve(given(word, words[++at])));
    else if (word === "--times") times = Number(given(word, words[++at]));
    else windows.push(toWindow(word));
  }
  if (!Number.isInteger(times) || times < 1) throw new Error("--times: a whole number from 1");
  const names = new Set(others.map((folder) => basename(folder)));
  if (names.size < others.length) throw new Error("--with: the folders need different names");
  return { windows, profile, others, times };
}

function given(option: string, value: string | undefined): string {
  if (value === undefined) throw new Error(`${option}: missing value`);
  return value;
}
