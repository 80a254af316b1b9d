import { resolve } from "node:path";

/** The words of a command that measures windows: its options, and what `toWindow` makes of every other word. */
export function readWindowArguments<Window>(words: readonly string[], toWindow: (text: string) => Window) {
  const windows: Window[] = [];
  let profile = false;
  const others: string[] = [];
  let times = 1;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (word === "--profile") profile = true;
    else if (word === "--with") others.push(resolve(words[++at] ?? ""));
    else if (word === "--times") times = Number(words[++at]);
    else windows.push(toWindow(word));
  }
  return { windows, profile, others, times };
}
