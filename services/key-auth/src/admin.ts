import { text } from "node:stream/consumers";
import { operatorConfig } from "./config.ts";
import { runAsOperator } from "./operator/run.ts";

process.exitCode = await runAsOperator({
  argv: process.argv.slice(2),
  config: () => operatorConfig(process.env),
  readInput: () => text(process.stdin),
  print: (line) => console.log(line),
  printError: (line) => console.error(line),
});
