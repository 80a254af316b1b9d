import { Console } from "node:console";
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { readCallCosts } from "./read-table.ts";

function printed(rows: Record<string, Record<string, string>>): string {
  let text = "";
  const stdout = new Writable({
    write(chunk, _, done) {
      text += chunk;
      done();
    },
  });
  const console = new Console(stdout);
  console.log("concurrency 64");
  console.table(rows);
  return text;
}

test("the figures of a printed table are read by the names of their columns", () => {
  const row = {
    "calls/s": "1790",
    "CPU µs/call": "1018.4",
    "of it client": "520.0",
    "mean ms": "35.75",
    "of unary": "1/1.0",
  };
  const stream = { ...row, "calls/s": "30000", "CPU µs/call": "33.1" };
  expect(readCallCosts(printed({ "unary gRPC": row, "call stream": stream }))).toEqual([
    {
      concurrency: 64,
      rows: [
        { name: "unary gRPC", perSecond: 1790, cpuUs: 1018.4, clientUs: 520, meanMs: 35.75 },
        { name: "call stream", perSecond: 30000, cpuUs: 33.1, clientUs: 520, meanMs: 35.75 },
      ],
    },
  ]);
});
