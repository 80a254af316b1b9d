// The program of a tenant's process: reads lines with arguments and with results of host calls, and writes its own.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";

const handler = Function(`"use strict"; return (${process.argv[2]})`)();
const pending = [];
const write = (line) => writeSync(1, `${line}\n`);
const ctx = {
  callTool: (_name, value) =>
    new Promise((resolve) => {
      pending.push(resolve);
      write(`call ${JSON.stringify(value)}`);
    }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const space = line.indexOf(" ");
  const value = JSON.parse(line.slice(space + 1));
  if (line.startsWith("result")) pending.shift()?.(value);
  else void Promise.resolve(handler(value, ctx)).then((result) => write(`ok ${JSON.stringify(result)}`));
});
write("ready");
